"""Tables in Markdown."""

import html
import re
import statistics
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from bitcipher.redaction import escape_controls

# Characters with a meaning inside a line: emphasis, code, links, images, footnotes, deleted text and escapes. An
# underscore within a word has none.
_MARKS = re.compile(r"[\\`*\[\]~]|(?<![^\W_])_|_(?![^\W_])")
# Characters that viewers turn into cells, formulas, mentions and links without any mark.
_ENTITIES = (("|", "&#124;"), ("$", "&#36;"), ("@", "&#64;"), ("://", "&#58;//"), ("www.", "www&#46;"))

_ESCAPED_MARKS = re.compile(r"\\([\\`*\[\]~_])")


class MarkdownTable(NamedTuple):
    """A table as `format_table` wrote it, without escapes."""

    header: list[str]
    rows: list[list[str]]
    marks: list[str]
    """For each row, the Markdown around its cells."""
    text_columns: int
    """Number of columns at the left that are left-aligned."""


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


def split_tables(markdown: str) -> Iterator[str | MarkdownTable]:
    """Yield the tables of a text that `format_table` wrote, and every other line without escapes."""
    for is_table, lines in groupby(markdown.splitlines(), lambda line: line.startswith("| ")):
        if is_table:
            header, alignment, *rows = ([*line[2:-2].split(" | ")] for line in lines)
            marks = [row[0][: len(row[0]) - len(row[0].lstrip("*"))] for row in rows]
            cells = [
                [_unescape(cell[len(mark) : len(cell) - len(mark)]) for cell in row]
                for mark, row in zip(marks, rows, strict=True)
            ]
            yield MarkdownTable([*map(_unescape, header)], cells, marks, alignment.count("---"))
        else:
            yield from map(_unescape, lines)


def _unescape(markdown: str) -> str:
    return html.unescape(_ESCAPED_MARKS.sub(r"\1", markdown))
