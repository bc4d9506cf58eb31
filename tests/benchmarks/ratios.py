"""Ratios of paired runs, as rows of a Markdown table."""

from dataclasses import dataclass
from statistics import median

HEADER = "| ours / theirs | goal | aim | measured | range | ours | theirs | runs |\n|---|---|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Ratio:
    """Costs of bitcipher and of another tool, in pairs of runs.

    Attributes:
        name: name of the comparison.
        ours, theirs: one value per run; values with the same index are a pair.
        unit: "s" for CPU seconds, "B" for bytes, "" for a number.
        goal, aim: required ratio and desired ratio as text; a dash if there is none.
    """

    name: str
    ours: list[float]
    theirs: list[float]
    unit: str
    goal: str = "–"
    aim: str = "–"

    def median(self) -> float:
        """Return the median of the pairs' ratios."""
        return median(self._ratios())

    def row(self) -> str:
        """Return a row below `HEADER`: the median of the pairs' ratios, and the median of each side."""
        ratios, middle = self._ratios(), self.median()
        inverse = f" = 1/{1 / middle:.1f}" if 0 < middle < 0.5 else ""
        cells = [
            self.name,
            self.goal,
            self.aim,
            f"{middle:.3f}{inverse}",
            f"{min(ratios):.3f} – {max(ratios):.3f}",
            self._value(median(self.ours)),
            self._value(median(self.theirs)),
            str(len(ratios)),
        ]
        return f"| {' | '.join(cells)} |"

    def _ratios(self) -> list[float]:
        return [ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True)]

    def _value(self, value: float) -> str:
        return {"s": f"{value:,.1f} s", "B": f"{value / 1e6:,.0f} MB", "": f"{value:,.0f}"}[self.unit]
