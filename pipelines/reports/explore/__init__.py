"""A page to explore vectors by: a map of words, search, neighbors, explanations, and what moved since a version.

Its libraries are in the optional extra `report`, so they are loaded only when a page is made.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.explain import Contribution
from bitcipher.vectors import CipherVectors
from pipelines.reports.maps import require_libraries

# For given rows of the table, the strongest contributions of each.
Explanations = Callable[[Sequence[int]], list[list[Contribution]]]


class Compared(NamedTuple):
    """Vectors that a page compares with.

    Attributes:
        name: what the page calls them.
        vectors: of the version before.
    """

    name: str
    vectors: CipherVectors


def write_page(
    target: str,
    name: str,
    vectors: CipherVectors,
    most_words: int,
    explanations: Explanations | None = None,
    before: Compared | None = None,
    advance: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> None:
    """Write one page of HTML that needs no network. The same vectors give the same bytes.

    Args:
        target: the file, by path or URI; it must not be there yet.
        name: what the page calls the vectors.
        vectors: the table.
        most_words: how many words the page holds, the most frequent ones that have a vector.
        explanations: of rows of the table, or None if there are no counts to tell them from.
        before: vectors to compare with, usually of a version before.
        advance: called with a stage, how much of it is done since, and all that it has to do.

    Raises:
        BitcipherError: if a library is missing, if there is too little to draw a map of, or if the page is already
            there or cannot be written.
    """
    require_libraries()
    if storage.exists(target):
        raise BitcipherError(f"{target} is already there: choose another name, or remove it first.")
    from pipelines.reports.explore import page

    page.write(target, name, vectors, most_words, explanations, before, advance)
