"""Report tables, as Markdown and for the HTML page, and number formats."""

import math
from dataclasses import dataclass

from bitcipher.files.markdown import escape, format_table
from training.studies.downscaling.scaling.shape import Shape
from training.studies.downscaling.sweep.measures import Spread

# Cell of a missing number.
NONE = "—"
# Prefix of columns and rows with the numbers of Deshpande et al. (2023).
PAPER = "paper"
SHAPE_LEGEND = (
    "(E, H, I, L, A) is a model with embedding size E, hidden size H, intermediate size I, L layers and A attention "
    "heads."
)
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True)
class ReportTable:
    """Table of the report, with text for Markdown and HTML."""

    title: str
    header: tuple[str, ...]
    """Column titles."""
    rows: tuple[tuple[str, ...], ...]
    """Rows of cells; empty if the table has no data yet."""
    notes: tuple[str, ...] = ()
    """Sentences below the table."""
    missing: str = ""
    """Sentence that replaces a table without rows."""
    text_columns: int = 1
    """Number of columns with text, at the left; all other columns have numbers."""

    def markdown(self) -> str:
        """Return the table in Markdown, with its title and notes."""
        grid = format_table(self.header, self.rows, self.text_columns) if self.rows else f"{escape(self.missing)}\n"
        return "\n".join([f"## {escape(self.title)}\n", grid, *(f"{escape(note)}\n" for note in self.notes)])


def format_shape(shape: Shape) -> str:
    """Return a shape as in the paper's tables: (E, H, I, L, A)."""
    return f"({shape.name.replace('-', ', ')})"


def format_fixed(value: float | None, digits: int = 2) -> str:
    """Return a number with a fixed number of decimals."""
    return NONE if value is None else f"{value:,.{digits}f}"


def format_integer(value: float | None) -> str:
    """Return a number without decimals."""
    return format_fixed(value, 0)


def format_significant(value: float | None) -> str:
    """Return a number with three significant digits, in scientific notation below 0.001."""
    if value is None:
        return NONE
    if value and abs(value) < 1e-3:
        return format_scientific(value)
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}"


def format_scientific(value: float) -> str:
    """Return a number with two digits and a power of ten, such as 2.2 · 10¹⁵."""
    digits, power = f"{value:.1e}".split("e")
    return f"{digits} · 10{str(int(power)).translate(_SUPERSCRIPTS)}"


def format_percent(fraction: float) -> str:
    """Return a fraction in percent, with one decimal."""
    return f"{100 * fraction:.1f} %"


def format_spread(value: Spread | None, digits: int = 2) -> str:
    """Return mean ± standard deviation over seeds."""
    if value is None:
        return NONE
    return format_fixed(value.mean, digits) + (
        f" ± {format_fixed(value.deviation, digits)}" if value.deviation is not None else ""
    )
