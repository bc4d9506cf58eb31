"""Which kind and size of tokenizer suits a language: word-split ratio, sub-token score and a rule; see README.md."""

from training.tokenizer_selection.choose import Choice, Measured, choose, demand_references
from training.tokenizer_selection.paper import candidate_sizes, paper_rows
from training.tokenizer_selection.reference_words import read_reference_words, reference_words
from training.tokenizer_selection.references import load_reference, references_of
from training.tokenizer_selection.split_ratio import draw_examples, split_ratio
from training.tokenizer_selection.subtoken_matching import matching_score, split_words
from training.tokenizer_selection.table import table

__all__ = [
    "Choice",
    "Measured",
    "candidate_sizes",
    "choose",
    "demand_references",
    "draw_examples",
    "load_reference",
    "matching_score",
    "paper_rows",
    "read_reference_words",
    "reference_words",
    "references_of",
    "split_ratio",
    "split_words",
    "table",
]
