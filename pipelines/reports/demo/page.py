"""Report page of the demo: a single HTML file with inline styles, scripts and data.

Call `require_libraries` before importing this module: its libraries come with the optional extra `report`.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from bitcipher.files import storage
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.reports.maps.drawing import map_data, render
from pipelines.reports.maps.layout import choose_rows, make_map
from pipelines.reports.pages.text_direction import text_direction
from pipelines.store.manifest import read_manifest

# Number of neighbors per word.
NEIGHBORS = 8

# Maximum number of words of a map. More words take too long for a demo, and overlap on a small map.
MAX_WORDS = 1_500


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
        BitcipherError: if there are too few words for a map, or the page cannot be written.
    """
    manifest = read_manifest(build)
    start = time.perf_counter()
    maps = {name: _map(vectors) for name, vectors in tables.items()}
    here = Path(__file__).parent
    content = render(
        here / "page.html",
        [here / "page.js"],
        [here / "page.css"],
        title=title,
        about=about,
        numbers={
            "documents": f"{manifest.documents:,}",
            "tokens": f"{manifest.tokens:,}",
            "words": f"{manifest.vocabulary:,}",
            "text": f"{manifest.text_bytes / 1e6:,.1f} MB",
        },
        tables={name: vectors.vector_size for name, vectors in tables.items()},
        neighbors={word: _neighbors(word, tables) for word in words},
        direction=text_direction(words),
        maps=maps,
        seconds={**seconds, "maps": time.perf_counter() - start},
    )
    with storage.writing(target) as stream:
        stream.write(content)


def _neighbors(word: str, tables: Mapping[str, CipherVectors]) -> dict[str, list[tuple[str, float]]]:
    return {
        name: cast(list[tuple[str, float]], vectors.most_similar(word, topn=NEIGHBORS))
        for name, vectors in tables.items()
        if word in vectors
    }


def _map(vectors: CipherVectors) -> dict:
    rows = choose_rows(vectors, MAX_WORDS, letters_only=True)
    return map_data([vectors.index_to_key[row] for row in rows], make_map(vectors, rows))
