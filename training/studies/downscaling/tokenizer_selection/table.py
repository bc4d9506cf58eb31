"""Table of a tokenizer selection, in the format of Deshpande et al. (2023), Appendix B."""

from collections.abc import Sequence

from bitcipher.files import markdown
from training.studies.downscaling.tokenizer_selection.selection_rule import TokenizerChoice, TokenizerScores

_HEADER = ("Tokenizer", "Vocabulary size", "Word-split ratio", "ESMS")


def format_table(rows: Sequence[TokenizerScores], choice: TokenizerChoice | None = None) -> str:
    """Return the scores as a Markdown table. The chosen row is bold, and the best sizes of other kinds are italic.

    Args:
        rows: tokenizers and their references, in the order of the table.
        choice: choice among the rows, if any.
    """
    return markdown.format_table(_HEADER, list(map(_cells, rows)), marks=[_mark(row, choice) for row in rows])


def _mark(row: TokenizerScores, choice: TokenizerChoice | None) -> str:
    if choice is None or row not in choice.by_kind:
        return ""
    return "**" if row == choice.best else "*"


def _cells(row: TokenizerScores) -> tuple[str, ...]:
    return row.kind, _size(row), f"{row.split_ratio:.2f}", f"{row.matching_score:.4f}"


def _size(row: TokenizerScores) -> str:
    if row.size is None:
        return "pre-trained"
    return f"{row.size:,}" if row.tokens in (row.size, None) else f"{row.size:,} (the text gives {row.tokens:,})"
