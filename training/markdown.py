"""Tables in Markdown."""

import html
import re
import statistics
from collections.abc import Sequence

from bitcipher.redaction import escape_controls

# Characters with a meaning inside a line: emphasis, code, links, images, footnotes, deleted text and escapes. An
# underscore within a word has none.
_MARKS = re.compile(r"[\\`*\[\]~]|(?<![^\W_])_|_(?![^\W_])")
# Characters that viewers turn into cells, formulas, mentions and links without any mark.
_ENTITIES = (("|", "&#124;"), ("$", "&#36;"), ("@", "&#64;"), ("://", "&#58;//"), ("www.", "www&#46;"))


def escape(text: str) -> str:
    """Return text in one line, escaped so that Markdown shows it unchanged in a table cell or a paragraph."""
    escaped = _MARKS.sub(r"\\\g<0>", html.escape(escape_controls(" ".join(text.split())), quote=False))
    for characters, entity in _ENTITIES:
        escaped = re.sub(re.escape(characters), entity, escaped, flags=re.IGNORECASE)
    return escaped


def format_spread(values: Sequence[float], digits: int) -> str:
    """Return mean ± standard deviation (n - 1), or the only value."""
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1, marks: Sequence[str] = ()
) -> str:
    """Return a Markdown table.

    Args:
        header: column titles.
        rows: cells of each row, one per column title.
        text_columns: number of columns at the left that are left-aligned; all others are right-aligned.
        marks: for each row, the Markdown around its cells, such as `**`; empty for no marks.
    """
    alignment = ("---",) * text_columns + ("---:",) * (len(header) - text_columns)
    body = [
        [f"{mark}{escape(cell)}{mark}" for cell in cells]
        for cells, mark in zip(rows, marks or [""] * len(rows), strict=True)
    ]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (map(escape, header), alignment, *body))
