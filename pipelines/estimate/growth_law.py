"""How words and pairs grow with a corpus: Heaps' law, with an exponent that falls.

Words are K · N^β (Heaps 1978, section 7.5), pairs A · N^γ likewise, but only over short distances: on a larger corpus
the exponents are smaller, that of pairs clearly so. So a parabola is fitted to the logs, and beyond the data there are
two ways on: its tangent (the exponent stays as it is at the end) and its bend (the exponent falls on). The prediction
is the tangent for words and the middle of the two for pairs; the range reaches from the bend to the tangent, each moved
outwards by the error of the fit. That was chosen by what foretold three English corpora from a tenth of them best.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy import stats

from bitcipher.errors import BitcipherError

# A bending law goes on until its exponent is so much of that at the end of the data. A parabola would reach 0 and turn,
# but new words never cease.
LEAST_SHARE_OF_EXPONENT = 0.5

# A parabola has three parameters, and its error needs one point more.
FEWEST_POINTS = 4

# Of the bend, how much a prediction follows: for words as Heaps has it, and for pairs.
STRAIGHT = 0.0
HALF_BENT = 0.5

# Points that an error is told from: those of the last three doublings, where a straight line nearly holds.
LAST_POINTS = 4

CONFIDENCE = 0.95


class Bound(Enum):
    """Which of the ways on is meant."""

    LOW = "low"
    POINT = "point"
    HIGH = "high"


SIGNS = {Bound.LOW: -1, Bound.POINT: 0, Bound.HIGH: 1}


@dataclass(frozen=True)
class GrowthLaw:
    """A size as a function of tokens.

    Attributes:
        first, last: log of tokens where the data begin and end.
        size: log of the size at the end.
        exponent: the exponent at the end.
        bend: by how much the exponent changes an e-fold of tokens, 0 or less.
        bending: the share of the bend that the prediction follows.
        most: what the size cannot be more than.
        error: of the fit, as a share of the size: the standard deviation of residuals.
        line_error: of a straight line through the last points, likewise.
        line_centre, line_square, line_points: the mean of their logs, the sum of squares around it, and their number.
    """

    first: float
    last: float
    size: float
    exponent: float
    bend: float
    bending: float
    most: float
    error: float
    line_error: float
    line_centre: float
    line_square: float
    line_points: int

    def at(self, tokens: float, bound: Bound = Bound.POINT) -> float:
        """The size at so many tokens."""
        if tokens <= 0:
            return 0.0
        x = float(np.log(tokens))
        if x <= self.last:
            inside = self._inside(x) + SIGNS[bound] * _quantile(self.line_points) * self.error
            return min(self.most, float(np.exp(inside)))
        tangent, bent = self._beyond(x)
        margin = self._margin(x)
        point = tangent + self.bending * (bent - tangent)
        log_size = {Bound.LOW: bent - margin, Bound.POINT: point, Bound.HIGH: tangent + margin}[bound]
        # Nothing grows faster than the text.
        return min(self.most, float(np.exp(min(log_size, self.size + x - self.last))))

    def tokens_at(self, size: float, bound: Bound = Bound.POINT) -> float:
        """The tokens at which a size is reached."""
        low, high = 0.0, 100.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.at(float(np.exp(middle)), bound) < size else (low, middle)
        return float(np.exp(high))

    def _inside(self, x: float) -> float:
        inside = max(x, self.first) - self.last
        value = self.size + self.exponent * inside + self.bend / 2 * inside**2
        # Before the data: straight on, but of less text never more than its share.
        return value + min(1.0, self.exponent + self.bend * inside) * min(0.0, x - self.first)

    def _beyond(self, x: float) -> tuple[float, float]:
        """By the tangent, and by the bend."""
        ahead = x - self.last
        tangent = self.size + self.exponent * ahead
        if not self.bend:
            return tangent, tangent
        bending = min(ahead, (1 - LEAST_SHARE_OF_EXPONENT) * self.exponent / -self.bend)
        straight = (ahead - bending) * (self.exponent + self.bend * bending)
        return tangent, self.size + self.exponent * bending + self.bend / 2 * bending**2 + straight

    def _margin(self, x: float) -> float:
        """Half of the interval in which a straight line through the last points puts one more, in logs."""
        spread = 1 + 1 / self.line_points + (x - self.line_centre) ** 2 / self.line_square
        return _quantile(self.line_points) * self.line_error * float(np.sqrt(spread))


def _quantile(points: int) -> float:
    """Of Student's distribution: the half of an interval for a line through so many points, in standard errors."""
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, points - 2))


def fit(tokens: Sequence[float], sizes: Sequence[float], bending: float, most: float = np.inf) -> GrowthLaw:
    """Fit a law by least squares in logs.

    Args:
        tokens: (n,) four or more amounts of text, in any order.
        sizes: (n,) what was counted of each, more than 0.
        bending: STRAIGHT or HALF_BENT.
        most: what the size cannot be more than.

    Raises:
        BitcipherError: if there is too little to fit.
    """
    order = np.argsort(tokens)
    x, y = (np.log(np.asarray(values, np.float64)[order]) for values in (tokens, sizes))
    if len(np.unique(x)) < FEWEST_POINTS:
        raise BitcipherError(
            f"The sample has too few documents to tell how words and pairs grow: give {FEWEST_POINTS} or more, best "
            "some megabytes of text."
        )
    square, slope, height = np.polyfit(x, y, 2)
    if square >= 0:  # no bend that can be told from noise
        square = 0.0
        slope, height = np.polyfit(x, y, 1)
    fitted = square * x**2 + slope * x + height
    line_x, line_y = x[-LAST_POINTS:], y[-LAST_POINTS:]
    line = np.polyval(np.polyfit(line_x, line_y, 1), line_x)
    return GrowthLaw(
        first=float(x[0]),
        last=float(x[-1]),
        # What was counted at the end is known; the fit may be off there by its error.
        size=float(y[-1]),
        exponent=float(2 * square * x[-1] + slope),
        bend=float(2 * square),
        bending=bending,
        most=most,
        error=float(np.sqrt(np.sum((y - fitted) ** 2) / max(1, len(x) - 3))),
        line_error=float(np.sqrt(np.sum((line_y - line) ** 2) / max(1, len(line_x) - 2))),
        line_centre=float(line_x.mean()),
        line_square=float(np.sum((line_x - line_x.mean()) ** 2)),
        line_points=len(line_x),
    )
