"""Growth of words and pairs with the size of a corpus: Heaps' law with a falling exponent.

Heaps' law says that N tokens have K · N^β distinct words (Heaps 1978, section 7.5). Pairs follow a similar law, A ·
N^γ. Both laws hold over short ranges only: the exponents fall as a corpus grows, γ faster than β. Therefore a parabola
is fitted in log-log space. Beyond the data, the parabola is extrapolated in two ways: by its tangent at the last data
point (constant exponent), and by the parabola itself (falling exponent). The prediction is the tangent for words, and
the parabola for pairs. The range of a prediction reaches from the parabola to the tangent, extended by the error of the
fit. These choices gave the best predictions for three English corpora, each from a tenth and a twentieth of its text.

For words, the exponent at the last data point is not fitted: it is the share of the words that occur in one passage
only. If the passages are a random sample, the next one brings as many new words as the last one did, and these words
occur in the last one only (Good & Toulmin 1956). Fitted to few long documents, the exponent is off by up to a third.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy import stats

from bitcipher.errors import BitcipherError

# Where the exponent of the parabola has fallen to this fraction of its value at the last data point, a straight line
# replaces the parabola, which would reach a maximum and decline, although longer text always has new words.
MIN_SHARE_OF_EXPONENT = 0.5

# Minimum number of points: a parabola has three parameters, and the error of the fit needs one more point.
MIN_POINTS = 4

# Weight of the parabola in a prediction beyond the data, for words (0, as in Heaps' law) and for pairs. The tangent has
# the remaining weight.
WORDS_BENDING = 0.0
PAIRS_BENDING = 1.0

# Number of points that the prediction interval is computed from: the last three doublings, which are nearly on a line.
LAST_POINTS = 4

# Confidence level of prediction intervals.
CONFIDENCE = 0.95


class Bound(Enum):
    """Lower end, expected value or upper end of a prediction."""

    LOW = "low"
    POINT = "point"
    HIGH = "high"


SIGNS = {Bound.LOW: -1, Bound.POINT: 0, Bound.HIGH: 1}


@dataclass(frozen=True)
class GrowthLaw:
    """Size as a function of the number of tokens.

    Attributes:
        first: log of the tokens of the smallest data point.
        last: log of the tokens of the largest data point.
        size: log of the size of the largest data point.
        exponent: exponent at the largest data point.
        bend: change of the exponent when the number of tokens grows by a factor of e, at most 0.
        bending: weight of the parabola in predictions beyond the data, WORDS_BENDING or PAIRS_BENDING.
        limit: maximum size.
        error: error of the fit, the standard deviation of the residuals in logs.
        line_error: error of a straight line through the last points, in logs.
        line_center: mean of the log tokens of the last points.
        line_square: sum of squared deviations of the log tokens from `line_center`.
        line_points: number of the last points.
    """

    first: float
    last: float
    size: float
    exponent: float
    bend: float
    bending: float
    limit: float
    error: float
    line_error: float
    line_center: float
    line_square: float
    line_points: int

    def at(self, tokens: float, bound: Bound = Bound.POINT) -> float:
        """Return the size of a text with a number of tokens."""
        if tokens <= 0:
            return 0.0
        x = float(np.log(tokens))
        if x <= self.last:
            inside = self._inside(x) + SIGNS[bound] * _quantile(self.line_points) * self.error
            return min(self.limit, float(np.exp(inside)))
        tangent, bent = self._beyond(x)
        margin = self._margin(x)
        point = tangent + self.bending * (bent - tangent)
        log_size = {Bound.LOW: bent - margin, Bound.POINT: point, Bound.HIGH: tangent + margin}[bound]
        # Sizes grow at most in proportion to the text.
        return min(self.limit, float(np.exp(min(log_size, self.size + x - self.last))))

    def tokens_at(self, size: float, bound: Bound = Bound.POINT) -> float:
        """Return the number of tokens of a text that has this size."""
        low, high = 0.0, 100.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.at(float(np.exp(middle)), bound) < size else (low, middle)
        return float(np.exp(high))

    def _inside(self, x: float) -> float:
        inside = max(x, self.first) - self.last
        value = self.size + self.exponent * inside + self.bend / 2 * inside**2
        # Before the smallest data point: a straight line with an exponent of at most 1.
        return value + min(1.0, self.exponent + self.bend * inside) * min(0.0, x - self.first)

    def _beyond(self, x: float) -> tuple[float, float]:
        """Return the log of the size on the tangent, and on the parabola."""
        ahead = x - self.last
        tangent = self.size + self.exponent * ahead
        if not self.bend:
            return tangent, tangent
        bending = min(ahead, (1 - MIN_SHARE_OF_EXPONENT) * self.exponent / -self.bend)
        straight = (ahead - bending) * (self.exponent + self.bend * bending)
        return tangent, self.size + self.exponent * bending + self.bend / 2 * bending**2 + straight

    def _margin(self, x: float) -> float:
        """Return half the width of the prediction interval of a line through the last points, in logs."""
        spread = 1 + 1 / self.line_points + (x - self.line_center) ** 2 / self.line_square
        return _quantile(self.line_points) * self.line_error * float(np.sqrt(spread))


def _quantile(points: int) -> float:
    """Return the two-sided quantile of Student's t distribution for a line through a number of points."""
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, points - 2))


def fit_growth_law(
    tokens: Sequence[float],
    sizes: Sequence[float],
    bending: float,
    limit: float = np.inf,
    exponent: float | None = None,
) -> GrowthLaw:
    """Fit a law to measured sizes by least squares in log-log space.

    Args:
        tokens: (points,) numbers of tokens, in any order. At least four numbers are distinct.
        sizes: (points,) measured sizes, greater than 0.
        bending: WORDS_BENDING or PAIRS_BENDING.
        limit: maximum size.
        exponent: exponent at the largest number of tokens; fitted if not given.

    Raises:
        BitcipherError: if there are too few points.
    """
    order = np.argsort(tokens)
    x, y = (np.log(np.asarray(values, np.float64)[order]) for values in (tokens, sizes))
    if len(np.unique(x)) < MIN_POINTS:
        raise BitcipherError(
            f"The sample has too few documents to measure how words and pairs grow: give at least {MIN_POINTS}, "
            "ideally some megabytes of text."
        )
    if exponent is None:
        square, slope, height = np.polyfit(x, y, 2)
        if square >= 0:  # the exponent does not fall, apart from noise
            square = 0.0
            slope, height = np.polyfit(x, y, 1)
    else:
        ahead, rise = x - x[-1], y - y[-1] - exponent * (x - x[-1])
        square = min(0.0, float(rise @ ahead**2 / np.sum(ahead**4)))
        slope = exponent - 2 * square * x[-1]
        height = y[-1] - square * x[-1] ** 2 - slope * x[-1]
    fitted = square * x**2 + slope * x + height
    line_x, line_y = x[-LAST_POINTS:], y[-LAST_POINTS:]
    line = np.polyval(np.polyfit(line_x, line_y, 1), line_x)
    return GrowthLaw(
        first=float(x[0]),
        last=float(x[-1]),
        # The measured size is exact; the fitted one has an error.
        size=float(y[-1]),
        exponent=float(2 * square * x[-1] + slope),
        bend=float(2 * square),
        bending=bending,
        limit=limit,
        error=float(np.sqrt(np.sum((y - fitted) ** 2) / max(1, len(x) - 3))),
        line_error=float(np.sqrt(np.sum((line_y - line) ** 2) / max(1, len(line_x) - 2))),
        line_center=float(line_x.mean()),
        line_square=float(np.sum((line_x - line_x.mean()) ** 2)),
        line_points=len(line_x),
    )
