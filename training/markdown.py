"""Tables in Markdown."""

from collections.abc import Sequence


def escape(text: str) -> str:
    """Return text that Markdown shows unchanged in a table cell or a paragraph, on one line."""
    return " ".join(text.split()).replace("|", "&#124;").replace("<", "&lt;")


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Return a Markdown table.

    Args:
        header: column titles.
        rows: cells of text, as many per row as there are titles.
        text_columns: number of left-aligned columns; the columns after them are right-aligned.
    """
    alignment = ("---",) * text_columns + ("---:",) * (len(header) - text_columns)
    return "".join(f"| {' | '.join(map(escape, cells))} |\n" for cells in (header, alignment, *rows))
