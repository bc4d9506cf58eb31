"""Validation of numbers before a fit."""

from collections.abc import Sequence

import numpy as np

from bitcipher.errors import BitcipherError

Numbers = Sequence[float] | np.ndarray


def check_finite(name: str, values: Numbers) -> np.ndarray:
    """Return the numbers as float64 [N].

    Raises:
        BitcipherError: if a number is not finite.
    """
    numbers = np.asarray(values, np.float64)
    return _all(np.isfinite(numbers), name, numbers, "a finite number")


def check_positive(name: str, values: Numbers) -> np.ndarray:
    """Return the numbers as float64 [N], suitable for logarithms.

    Raises:
        BitcipherError: if a number is not finite, or not above 0.
    """
    numbers = check_finite(name, values)
    return _all(numbers > 0, name, numbers, "above 0")


def _all(good: np.ndarray, name: str, numbers: np.ndarray, wanted: str) -> np.ndarray:
    if good.all():
        return numbers
    index = int(np.argmin(good))
    raise BitcipherError(
        f"Number {index + 1} of the {name} is {numbers[index]}, but must be {wanted}; leave its point out."
    )


def check_lengths(first: tuple[str, np.ndarray], second: tuple[str, np.ndarray], *, min_points: int) -> None:
    """Check that two lists of numbers have equal lengths and enough points.

    Raises:
        BitcipherError: if the lengths differ or are below `min_points`.
    """
    (first_name, one), (second_name, other) = first, second
    if len(one) != len(other):
        raise BitcipherError(
            f"There are {len(one)} {first_name} but {len(other)} {second_name}; give both for every point."
        )
    if len(one) < min_points:
        raise BitcipherError(f"There are {len(one)} points, but at least {min_points} are needed; measure more.")
