"""Report page of the demo: sizes, neighbors of words side by side, and maps of frequent words.

Its libraries belong to the optional extra `report`, so they are imported only when a page is made.
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
    """Write a self-contained HTML page.

    Args:
        target: path or URI of the page.
        title: heading of the page.
        about: one or two sentences below the heading.
        build: folder of the build of all vectors.
        tables: vectors by their names on the page.
        words: words whose neighbors are shown; words that a table lacks are left out.
        seconds: wall time of each step, in the order to show; the time for the maps is added.

    Raises:
        BitcipherError: if a library is missing, there are too few words for a map, or the page cannot be written.
    """
    require_libraries()
    from pipelines.reports.demo import page

    page.write(target, title, about, build, tables, words, seconds)
