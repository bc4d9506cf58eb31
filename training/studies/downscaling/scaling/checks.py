"""Checks of numbers before they are fitted or correlated: finite, positive, of equal lengths."""

from collections.abc import Sequence

import numpy as np

from bitcipher.errors import BitcipherError

Numbers = Sequence[float] | np.ndarray


def check_finite(name: str, values: Numbers) -> np.ndarray:
    """Return the numbers as a float64 array, (N,).

    Args:
        name: what the numbers are, in the plural, for error messages.
        values: (N,) numbers.

    Raises:
        BitcipherError: if a number is not finite.
    """
    numbers = np.asarray(values, np.float64)
    return _require_all(np.isfinite(numbers), name, numbers, "a finite number")


def check_positive(name: str, values: Numbers) -> np.ndarray:
    """Return the numbers as a float64 array, (N,), suitable for logarithms.

    Args:
        name: what the numbers are, in the plural, for error messages.
        values: (N,) numbers.

    Raises:
        BitcipherError: if a number is not finite, or not above 0.
    """
    numbers = check_finite(name, values)
    return _require_all(numbers > 0, name, numbers, "above 0")


def _require_all(is_valid: np.ndarray, name: str, numbers: np.ndarray, requirement: str) -> np.ndarray:
    if is_valid.all():
        return numbers
    index = int(np.argmin(is_valid))
    raise BitcipherError(
        f"Number {index + 1} of the {name} is {numbers[index]}, but must be {requirement}; leave its point out."
    )


def check_lengths(first: tuple[str, np.ndarray], second: tuple[str, np.ndarray], *, min_points: int) -> None:
    """Check that two lists of numbers, the coordinates of points, have equal lengths and enough points.

    Args:
        first, second: name and numbers of each list.
        min_points: minimum length.

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
