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

from bitcipher.errors import BitcipherError

# The parabola is used while its exponent is between 1 and this fraction of the exponent at the last data point. Further
# out, straight lines replace it: it would reach a maximum and decline, although longer text always has new words.
MIN_SHARE_OF_EXPONENT = 0.5

# Minimum number of points: a parabola has three parameters, and the error of the fit needs one more point.
MIN_POINTS = 4

# Weight of the parabola in a prediction beyond the data, for words (0, as in Heaps' law) and for pairs. The tangent has
# the remaining weight.
WORDS_BENDING = 0.0
PAIRS_BENDING = 1.0

# Half the width of the range of a prediction, in errors of the fit, at the last data point and for each factor of e
# beyond: the quantile of Student's t distribution for a confidence of 95 % and a parabola through seven points.
ERRORS_IN_RANGE = 2.8


class Bound(Enum):
    """Lower end, expected value or upper end of a prediction."""

    LOW = "low"
    POINT = "point"
    HIGH = "high"


@dataclass(frozen=True)
class GrowthLaw:
    """Size as a function of the number of tokens.

    Attributes:
        last: log of the tokens of the largest data point.
        size: log of the size of the largest data point.
        exponent: exponent at the largest data point.
        bend: change of the exponent when the number of tokens grows by a factor of e, at most 0.
        bending: weight of the parabola in predictions beyond the data, WORDS_BENDING or PAIRS_BENDING.
        limit: maximum size.
        error: error of the fit, the standard deviation of the residuals in logs.
    """

    last: float
    size: float
    exponent: float
    bend: float
    bending: float
    limit: float
    error: float

    def at(self, tokens: float, bound: Bound = Bound.POINT) -> float:
        """Return the size of a text with a number of tokens."""
        if tokens <= 0:
            return 0.0
        ahead = float(np.log(tokens)) - self.last
        parabola = self._parabola(ahead)
        tangent = self.size + self.exponent * ahead if ahead > 0 else parabola
        margin = ERRORS_IN_RANGE * self.error * (1 + max(0.0, ahead))
        log_size = {
            Bound.LOW: parabola - margin,
            Bound.POINT: tangent + self.bending * (parabola - tangent),
            Bound.HIGH: tangent + margin,
        }[bound]
        # Sizes grow at most in proportion to the text.
        return min(self.limit, float(np.exp(min(log_size, self.size + max(0.0, ahead)))))

    def tokens_at(self, size: float, bound: Bound = Bound.POINT) -> float:
        """Return the number of tokens of a text that has this size."""
        low, high = 0.0, 100.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.at(float(np.exp(middle)), bound) < size else (low, middle)
        return float(np.exp(high))

    def _parabola(self, ahead: float) -> float:
        """Return the log of the size on the parabola, or on the straight lines that continue it."""
        bent = ahead
        if self.bend:
            lowest, highest = MIN_SHARE_OF_EXPONENT * self.exponent, max(1.0, self.exponent)
            bent = float(np.clip(ahead, (highest - self.exponent) / self.bend, (lowest - self.exponent) / self.bend))
        height = self.size + self.exponent * bent + self.bend / 2 * bent**2
        return height + (ahead - bent) * (self.exponent + self.bend * bent)


def fit_growth_law(
    tokens: Sequence[float],
    sizes: Sequence[float],
    bending: float,
    limit: float = np.inf,
    exponent: float | None = None,
) -> GrowthLaw:
    """Fit a law to measured sizes by least squares in log-log space, through the largest data point.

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
    ahead, rise = x - x[-1], y - y[-1]
    if exponent is None:
        square, slope = np.polyfit(ahead, rise, 2)[:2]
        if square >= 0:  # the exponent does not fall, apart from noise
            square, slope = 0.0, np.polyfit(ahead, rise, 1)[0]
    else:
        square = min(0.0, (rise - exponent * ahead) @ ahead**2 / np.sum(ahead**4))
        slope = exponent
    residuals = rise - slope * ahead - square * ahead**2
    return GrowthLaw(
        last=float(x[-1]),
        size=float(y[-1]),
        exponent=float(slope),
        bend=float(2 * square),
        bending=bending,
        limit=limit,
        error=float(np.sqrt(np.sum(residuals**2) / (len(x) - 3))),
    )
