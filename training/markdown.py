"""Tables in Markdown."""

from collections.abc import Sequence


def escape(text: str) -> str:
    """Return text in one line, escaped so that Markdown shows it unchanged in a table cell or a paragraph."""
    return " ".join(text.split()).replace("|", "&#124;").replace("<", "&lt;")


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Return a Markdown table.

    Args:
        header: column titles.
        rows: cells of each row, one per column title.
        text_columns: number of columns at the left that are left-aligned; all others are right-aligned.
    """
    alignment = ("---",) * text_columns + ("---:",) * (len(header) - text_columns)
    return "".join(f"| {' | '.join(map(escape, cells))} |\n" for cells in (header, alignment, *rows))
