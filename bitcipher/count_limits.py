"""Maximum of counts: sums of counts up to it are exact, in integers and in float64."""

import numpy as np

from bitcipher.errors import BitcipherError

# The number of pairs of a word is at most 2 · 128 times its occurrences, so it is at most 2⁶¹, which the fixed point of
# `bitcipher.embedding` needs. No corpus is near: it has 9e15 tokens.
MAX_TOKENS = 1 << 53


def check_word_counts(counts: np.ndarray, owner: str) -> None:
    """Check that the counts of words, (V,) int64, can be added up exactly.

    Args:
        counts: occurrences of each word, or passages that contain it.
        owner: where the counts are from, such as a file name; the error message begins with it.

    Raises:
        BitcipherError: if a count is negative, or the sum is above `MAX_TOKENS`.
    """
    check_pair_counts(counts, owner)
    total = counts.sum(dtype=np.float64)  # the sum of integers could overflow
    if total > MAX_TOKENS:
        raise BitcipherError(f"{owner}: the counts add up to {total:.3g}, {_ABOVE_MAXIMUM}.")


def check_pair_counts(counts: np.ndarray, owner: str) -> None:
    """Check that no count, (n,) int64, is negative or above `MAX_TOKENS`.

    Raises:
        BitcipherError: if there is such a count. The arguments are those of `check_word_counts`.
    """
    # As unsigned integers, negative counts are the largest, so one pass is enough.
    if len(counts) and counts.view(np.uint64).max() > MAX_TOKENS:
        wrong = counts[counts.view(np.uint64) > MAX_TOKENS][0]
        problem = "negative" if wrong < 0 else _ABOVE_MAXIMUM
        raise BitcipherError(f"{owner}: the count {wrong:,} is {problem}.")


_ABOVE_MAXIMUM = (
    "above the maximum of 2⁵³, so sums would not be exact; if the file is damaged, restore it or build again"
)
