"""A page to look at vectors: their sizes, neighbors of words side by side, and maps of frequent words.

Its libraries are in the optional extra `report`, so they are loaded only when a page is made.
"""

from collections.abc import Mapping, Sequence

from bitcipher.vectors import CipherVectors
from pipelines.reports.maps import require_libraries


def write_report(
    target: str,
    title: str,
    about: str,
    build: str,
    tables: Mapping[str, CipherVectors],
    words: Sequence[str],
    seconds: Mapping[str, float],
) -> None:
    """Write one page of HTML that needs no network.

    Args:
        target: the file, by path or URI.
        title: what stands above.
        about: a sentence or two on what it shows.
        build: the folder of the build that all tables were made of.
        tables: vectors by the names that they go by on the page.
        words: whose neighbors to show; those that a table lacks are left out.
        seconds: what each step took, in the order to show; that of the maps is added.

    Raises:
        BitcipherError: if a library is missing, if there is too little to draw a map of, or if the page cannot be
            written.
    """
    require_libraries()
    from pipelines.reports.demo import page

    page.write(target, title, about, build, tables, words, seconds)
