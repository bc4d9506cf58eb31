"""Explorer page: a map of words, search, neighbors, explanations, and changes since another version.

Its libraries belong to the optional extra `report`, so they are imported only when a page is made.
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
    """Vectors that a page is compared with, and their name on the page."""

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
    """Write a self-contained HTML page. The same vectors give the same bytes.

    Args:
        target: path or URI of the page, which must not exist.
        name: name of the vectors on the page.
        vectors: the vectors.
        max_words: maximum number of words on the page; the most frequent ones with a vector are shown.
        explanations: explains rows of the table; None without counts.
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
