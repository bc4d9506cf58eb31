"""Selection of a tokenizer for a corpus by word-split ratio and sub-token matching score; see README.md."""

from training.tokenizer_selection.published_scores import candidate_sizes, published_rows
from training.tokenizer_selection.reference_words import read_reference_words, reference_words
from training.tokenizer_selection.references import load_reference, parse_references
from training.tokenizer_selection.selection_rule import TokenizerChoice, TokenizerScores, check_references, choose
from training.tokenizer_selection.split_ratio import draw_examples, split_ratio
from training.tokenizer_selection.subtoken_matching import matching_score, split_words
from training.tokenizer_selection.table import format_table

__all__ = [
    "TokenizerChoice",
    "TokenizerScores",
    "candidate_sizes",
    "check_references",
    "choose",
    "draw_examples",
    "format_table",
    "load_reference",
    "matching_score",
    "parse_references",
    "published_rows",
    "read_reference_words",
    "reference_words",
    "split_ratio",
    "split_words",
]
