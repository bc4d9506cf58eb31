"""What a table is: cells of text, as Markdown and for the page; and how numbers are written in it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
        parts = [f"## {_escaped(self.title)}\n", self._grid() if self.rows else f"{_escaped(self.missing)}\n"]
        parts += [f"{_escaped(note)}\n" for note in self.notes]
        return "\n".join(parts)

    def _grid(self) -> str:
        rule = ("---",) * self.words + ("---:",) * (len(self.header) - self.words)
        lines = [self.header, rule, *self.rows]
        return "".join(f"| {' | '.join(map(_escaped, cells))} |\n" for cells in lines)


def configuration(shape: Shape) -> str:
    """A shape as the paper's tables name it: (E, H, I, L, A)."""
    return f"({shape.name.replace('-', ', ')})"


def fixed(value: float | None, digits: int = 2) -> str:
    """A number with so many decimals."""
    return NONE if value is None else f"{value:,.{digits}f}"


def whole(value: float | None) -> str:
    """A number without decimals."""
    return fixed(value, 0)


def significant(value: float | None) -> str:
    """Three significant digits, as a power of ten where they would lie far behind the point."""
    if value is None:
        return NONE
    if value and abs(value) < 1e-3:
        return scientific(value)
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}"


def scientific(value: float) -> str:
    """Two digits and a power of ten, such as 2.2 · 10¹⁵."""
    digits, power = f"{value:.1e}".split("e")
    return f"{digits} · 10{str(int(power)).translate(_SUPERSCRIPTS)}"


def percent(share: float) -> str:
    """A share in percent, with a digit behind the point."""
    return f"{100 * share:.1f} %"


def spread(value: Spread | None, digits: int = 2) -> str:
    """Mean ± standard deviation over seeds."""
    if value is None:
        return NONE
    return fixed(value.mean, digits) + (f" ± {fixed(value.deviation, digits)}" if value.deviation is not None else "")


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "&#124;").replace("<", "&lt;")
