"""Mean of a ratio of sums over rows, and its confidence interval.

A loss per token is the sum of the losses of all rows divided by the number of their tokens. Tokens of a row depend on
each other, so the rows are the sample. The variance is that of the ratio estimator (Cochran 1977, "Sampling
Techniques", section 6.4).
"""

import math

import torch
from torch import Tensor

# Number of moments: rows, Σs, Σn, Σs², Σsn and Σn² of rows with the sum s of n terms.
N_MOMENTS = 6
# 97.5 % quantile of the normal distribution, for intervals of 95 %.
_QUANTILE = 1.959964


def row_moments(sums: Tensor) -> Tensor:
    """Return the moments [B, N_MOMENTS] float64 of rows, which are added up over rows and workers.

    Args:
        sums: [B, 2], the sum and the number of terms of each row.
    """
    values, counts = sums.double().unbind(1)
    products = (torch.ones_like(values), values, counts, values * values, values * counts, counts * counts)
    return torch.stack(products, dim=1)


def mean_of(moments: Tensor) -> float:
    """Return the sum of all rows divided by the number of their terms; NaN if there are none."""
    _, total, terms, *_ = moments.tolist()
    return total / terms if terms else math.nan


def interval_of(moments: Tensor) -> tuple[float, float]:
    """Return the bounds of the 95 % confidence interval of the mean; NaN if there are fewer than two rows."""
    rows, _, terms, squares, products, squared_terms = moments.tolist()
    if rows < 2 or not terms:
        return math.nan, math.nan
    mean = mean_of(moments)
    # Rounding can make the sum of squared deviations negative.
    deviations = max(0.0, squares - 2 * mean * products + mean * mean * squared_terms)
    error = math.sqrt(rows / (rows - 1) * deviations) / terms
    return mean - _QUANTILE * error, mean + _QUANTILE * error
