"""Explorer page: word map, search, nearest neighbors, explanations, and changes since an earlier version.

The libraries come with the optional extra `report`. They are imported only when a page is written.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.explain import Contribution
from bitcipher.vectors import CipherVectors
from pipelines.reports.maps import require_libraries

# Returns the strongest contributions to each of the given rows of the table.
Explanations = Callable[[Sequence[int]], list[list[Contribution]]]


class Compared(NamedTuple):
    """Baseline vectors that a page is compared with, and their name on the page."""

    name: str
    vectors: CipherVectors


def write_page(
    target: str,
    name: str,
    vectors: CipherVectors,
    max_words: int,
    explanations: Explanations | None = None,
    before: Compared | None = None,
    advance: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> None:
    """Write a self-contained HTML page. Equal vectors give equal bytes.

    Args:
        target: path or URI of the page. It must not exist.
        name: name of the vectors on the page.
        vectors: the vectors to show.
        max_words: maximum number of words. The page shows the most frequent words that have a vector.
        explanations: returns the contributions to rows of the table, or None if the counts are not available.
        before: vectors to compare with, usually of an earlier version.
        advance: called with the name of a step, the amount of work done since the last call, and the total.

    Raises:
        BitcipherError: if a library is missing, there are too few words for a map, or the page exists or cannot be
            written.
    """
    require_libraries()
    if storage.exists(target):
        raise BitcipherError(f"{target} already exists: choose another path, or remove it first.")
    from pipelines.reports.explore import page

    page.write(target, name, vectors, max_words, explanations, before, advance)
