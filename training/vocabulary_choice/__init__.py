"""Which kind and size of tokenizer suits a language: word-split ratio, sub-token score and a rule; see README.md."""

from training.vocabulary_choice.choose import Choice, Measured, choose, demand_references
from training.vocabulary_choice.paper import candidate_sizes, paper_rows
from training.vocabulary_choice.reference_words import read_reference_words, reference_words
from training.vocabulary_choice.references import load_reference, references_of
from training.vocabulary_choice.splits import draw_examples, split_ratio
from training.vocabulary_choice.subtokens import matching_score, split_words
from training.vocabulary_choice.table import table

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
