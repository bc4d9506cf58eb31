"""Explorer page: a single HTML file with inline styles, scripts and data.

Call `require_libraries` before importing this module: its libraries come with the optional extra `report`.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bitcipher.explain.contributions import Contribution
from bitcipher.files import storage
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.builds.version_drift import NEIGHBORS
from pipelines.reports.explore.comparison import compare_tables
from pipelines.reports.maps.drawing import map_data, pack, pack_fractions, render
from pipelines.reports.maps.layout import STEPS, choose_rows, make_map

# Sorted by dependency: a script uses only the scripts that precede it.
SCRIPTS = ("elements.js", "search.js", "word.js", "changes.js", "main.js")
STYLES = ("page.css",)

# Number of contributions per word.
CONTRIBUTIONS = 8

# Number of words between two reports of progress.
WORDS_PER_REPORT = 1_000

# Iterates over the strongest contributions to each of the given rows of the table.
Explanations = Callable[[Sequence[int]], Iterable[list[Contribution]]]

# Called with the name of a step, the amount of work done since the last call, and the total.
Advance = Callable[[str, int, int], None]


class Baseline(NamedTuple):
    """Vectors that a page is compared with, and their name on the page."""

    name: str
    vectors: CipherVectors


def write_page(
    target: str,
    name: str,
    vectors: CipherVectors,
    max_words: int,
    explanations: Explanations | None = None,
    before: Baseline | None = None,
    advance: Advance = lambda stage, done, total: None,
) -> int:
    """Write a self-contained HTML page. Equal vectors give equal bytes.

    Args:
        target: path or URI of the page. It must not exist.
        name: name of the vectors on the page.
        vectors: the vectors to show.
        max_words: maximum number of words. The page shows the most frequent words that have a vector.
        explanations: gives the contributions to rows of the table, or None if the counts are not available.
        before: vectors to compare with, usually of an earlier version.
        advance: reports progress.

    Returns:
        Number of words on the page.

    Raises:
        BitcipherError: if there are too few words for a map, or the page exists or cannot be written.
    """
    storage.check_new(target)
    data = page_data(name, vectors, max_words, explanations, before, advance)
    here = Path(__file__).parent
    content = render(
        here / "page.html",
        [here / script for script in SCRIPTS],
        [here / style for style in STYLES],
        name=name,
        size=len(vectors),
        dimensions=vectors.vector_size,
        shown=len(data["map"]["words"]),
        before=before and before.name,
        data=data,
    )
    with storage.writing_new(target) as stream:
        stream.write(content)
    return len(data["map"]["words"])


def page_data(
    name: str,
    vectors: CipherVectors,
    max_words: int,
    explanations: Explanations | None,
    before: Baseline | None,
    advance: Advance,
) -> dict[str, Any]:
    """Return the data of the page (see "Page data" in README.md)."""
    rows = choose_rows(vectors, max_words)
    totals = {"neighbors": len(rows), "layout": STEPS}
    word_map = make_map(vectors, rows, lambda stage, done: advance(stage, done, totals[stage]))
    words = [vectors.index_to_key[row] for row in rows]
    nearest = word_map.neighbors[:, :NEIGHBORS]
    data = {
        "name": name,
        "map": map_data(words, word_map),
        "ranks": pack(rows + 1),
        "counts": None if vectors.counts is None else vectors.counts[rows].tolist(),
        "neighbors": pack(nearest),
        "cosines": pack_fractions(word_map.cosines[:, :NEIGHBORS]),
        "size": nearest.shape[1],
        "contributions": None,
        "before": None,
    }
    if explanations is not None:
        data["contributions"] = _contributions(explanations, rows, words, partial(advance, "explain"))
    if before is not None:
        data["before"] = compare_tables(before.name, before.vectors, vectors, rows, word_map.neighbors)
        advance("compare", 1, 1)
    return data


def _contributions(
    explanations: Explanations, rows: np.ndarray, words: Sequence[str], advance: Callable[[int, int], None]
) -> dict[str, Any]:
    """Return packed arrays with CONTRIBUTIONS contributions per word, padded with weights of 0."""
    numbers = {word: number for number, word in enumerate(words)}
    offsets, weights = np.zeros((len(rows), CONTRIBUTIONS), np.int64), np.zeros((len(rows), CONTRIBUTIONS), np.float32)
    contexts = np.zeros((len(rows), CONTRIBUTIONS), np.int64)
    reported = 0
    for word, contributions in enumerate(explanations(rows.tolist())):
        for position, (offset, context, weight) in enumerate(contributions[:CONTRIBUTIONS]):
            offsets[word, position] = offset
            contexts[word, position] = numbers.setdefault(context, len(numbers))
            weights[word, position] = weight
        if word + 1 == len(rows) or (word + 1) % WORDS_PER_REPORT == 0:
            advance(word + 1 - reported, len(rows))
            reported = word + 1
    return {
        "offsets": pack(offsets),
        "contexts": pack(contexts),
        "weights": pack(weights),
        "words": list(numbers)[len(words) :],
        "size": CONTRIBUTIONS,
    }
