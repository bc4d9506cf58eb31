"""Tables that are legible in terminals of any width."""

import textwrap
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.text import Text

from bitcipher.terminal import show_controls
from cluster.cli.display.console import OUT

# Spaces between two columns.
_GAP = 2
# The first column has names of files, vectors or runs. In a narrow terminal, it is folded, but not to less than this.
_MIN_FIRST_WIDTH = 20


class TextTable:
    """Table without lines: the first columns left-aligned, all others right-aligned.

    In a terminal that is too narrow, headers are wrapped, and the first column is folded. If that is not enough, each
    row is a block with a line per cell. Nothing is cut. Files and pipes get a line per row, of any length.
    """

    def __init__(self, *header: str, text_columns: int = 1):
        """Create an empty table.

        Args:
            header: title of each column.
            text_columns: number of left-aligned columns.
        """
        self._header = _visible(header)
        self._text_columns = text_columns
        self._rows: list[tuple[list[str], str]] = []

    def add_row(self, *cells: str, style: str = "") -> None:
        """Add a row with a cell for each column, in a style of rich such as `bold`."""
        self._rows.append((_visible(cells), style))

    def print(self) -> None:
        """Print the table."""
        columns = list(zip(self._header, *(cells for cells, _ in self._rows), strict=True))
        widths = [_longest(column) for column in columns]
        if not OUT.is_terminal or _total(widths) <= OUT.width:
            self._print_rows(widths)
            return
        # Headers are wrapped between words.
        widths = [_longest([*header.split(), *cells]) for header, *cells in columns]
        widths[0] = min(widths[0], max(_MIN_FIRST_WIDTH, OUT.width - _total([0, *widths[1:]])))
        if _total(widths) <= OUT.width:
            self._print_rows(widths)
        else:
            self._print_blocks()

    def _print_rows(self, widths: Sequence[int]) -> None:
        header = [textwrap.wrap(cell, max(width, 1)) for cell, width in zip(self._header, widths, strict=True)]
        height = max(map(len, header))
        for number in range(height):
            # Wrapped headers end on the same line.
            parts = [lines[number - height + len(lines)] if number >= height - len(lines) else "" for lines in header]
            OUT.print(Text(self._align(parts, widths), "bold"))
        for (first, *others), style in self._rows:
            start, *rest = chop_cells(first, max(widths[0], 1)) or [""]
            for cells in ([start, *others], *([part] for part in rest)):
                OUT.print(Text(self._align(cells, widths), style))

    def _print_blocks(self) -> None:
        width = min(_longest(self._header), OUT.width // 2)
        for number, (cells, style) in enumerate(self._rows):
            if number:
                OUT.print()
            for name, cell in zip(self._header, cells, strict=True):
                *lines, last = textwrap.wrap(name, width) or [""]
                for line in lines:
                    OUT.print(Text(line, "bold"))
                OUT.print(Text(set_cell_size(last, width + _GAP), "bold") + Text(cell, style))

    def _align(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        aligned = [
            set_cell_size(cell, width) if number < self._text_columns else " " * (width - cell_len(cell)) + cell
            for number, (cell, width) in enumerate(zip(cells, widths, strict=False))
        ]
        return (" " * _GAP).join(aligned).rstrip()


def _visible(cells: Iterable[str]) -> list[str]:
    return [show_controls(cell) for cell in cells]


def _longest(cells: Iterable[str]) -> int:
    return max(map(cell_len, cells), default=0)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)
