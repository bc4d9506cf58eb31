"""The table of a choice, as the paper's Appendix B has it."""

from collections.abc import Sequence

from training.tokenizer_selection.choose import Choice, Measured

_HEAD = "| Tokenizer | Vocabulary size | Word-split ratio | ESMS |\n|---|---:|---:|---:|\n"


def table(rows: Sequence[Measured], choice: Choice | None = None) -> str:
    """Rows in Markdown, as they come: the one that was chosen is bold, and the nearest sizes of other kinds slanted.

    Args:
        rows: tokenizers and their references.
        choice: made of them, if there is one.
    """
    return _HEAD + "".join(_line(row, _mark(row, choice)) for row in rows)


def _mark(row: Measured, choice: Choice | None) -> str:
    if choice is None or row not in choice.by_kind:
        return ""
    return "**" if row == choice.chosen else "*"


def _line(row: Measured, mark: str) -> str:
    cells = (row.kind, _size(row), f"{row.split_ratio:.2f}", f"{row.matching_score:.4f}")
    return f"| {' | '.join(f'{mark}{cell}{mark}' for cell in cells)} |\n"


def _size(row: Measured) -> str:
    if row.size is None:
        return "pre-trained"
    return f"{row.size:,}" if row.tokens in (row.size, None) else f"{row.size:,} (the text gives {row.tokens:,})"
