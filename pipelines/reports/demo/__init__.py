"""Report page of the demo: build sizes, nearest neighbors per table, and maps of frequent words.

The libraries come with the optional extra `report`. They are imported only when a page is written.
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
        build: directory of the build that all vectors belong to.
        tables: vectors by the name that the page shows.
        words: words whose neighbors are shown. Words that are missing from a table are skipped.
        seconds: wall time of each step in seconds, in display order. The time of the maps is added.

    Raises:
        BitcipherError: if a library is missing, there are too few words for a map, or the page cannot be written.
    """
    require_libraries()
    from pipelines.reports.demo import page

    page.write(target, title, about, build, tables, words, seconds)
