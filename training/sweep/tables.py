"""What a table is: cells of text, as Markdown and for the page; and how numbers are written in it."""

import math
from dataclasses import dataclass

from training.markdown import escape, format_table
from training.scaling import Shape
from training.sweep.measures import Spread

# Where a number is not there, or not yet.
NONE = "—"
# Columns and rows of the paper's numbers begin with this.
PAPER = "paper"
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True)
class ReportTable:
    """A table of the report."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Empty for a table that cannot be made yet."""
    notes: tuple[str, ...] = ()
    """Sentences below it."""
    missing: str = ""
    """The sentence that stands where it would, if there are no rows."""
    words: int = 1
    """Columns of words, at the left; the others hold numbers."""

    def markdown(self) -> str:
        """With its title and its notes."""
        grid = format_table(self.header, self.rows, self.words) if self.rows else f"{escape(self.missing)}\n"
        return "\n".join([f"## {escape(self.title)}\n", grid, *(f"{escape(note)}\n" for note in self.notes)])


def format_shape(shape: Shape) -> str:
    """A shape as the paper's tables name it: (E, H, I, L, A)."""
    return f"({shape.name.replace('-', ', ')})"


def format_fixed(value: float | None, digits: int = 2) -> str:
    """A number with so many decimals."""
    return NONE if value is None else f"{value:,.{digits}f}"


def format_integer(value: float | None) -> str:
    """A number without decimals."""
    return format_fixed(value, 0)


def format_significant(value: float | None) -> str:
    """Three significant digits, as a power of ten where they would lie far behind the point."""
    if value is None:
        return NONE
    if value and abs(value) < 1e-3:
        return format_scientific(value)
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}"


def format_scientific(value: float) -> str:
    """Two digits and a power of ten, such as 2.2 · 10¹⁵."""
    digits, power = f"{value:.1e}".split("e")
    return f"{digits} · 10{str(int(power)).translate(_SUPERSCRIPTS)}"


def format_percent(share: float) -> str:
    """A share in percent, with a digit behind the point."""
    return f"{100 * share:.1f} %"


def format_spread(value: Spread | None, digits: int = 2) -> str:
    """Mean ± standard deviation over seeds."""
    if value is None:
        return NONE
    return format_fixed(value.mean, digits) + (
        f" ± {format_fixed(value.deviation, digits)}" if value.deviation is not None else ""
    )
