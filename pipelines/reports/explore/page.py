"""The page itself: one file of HTML with its styles, its scripts and all its data."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bitcipher import storage
from bitcipher.vectors import CipherVectors
from pipelines.build.version_drift import NEIGHBORS
from pipelines.reports.explore import Compared, Explanations
from pipelines.reports.explore.comparison import compare
from pipelines.reports.maps.drawing import map_data, pack, pack_fractions, render
from pipelines.reports.maps.layout import STEPS, choose_rows, make_map

# In this order: each needs what stands before it.
SCRIPTS = ("elements.js", "search.js", "word.js", "moved.js", "main.js")
STYLES = ("page.css",)

# Of each word; also the most that explanations need to give.
CONTRIBUTIONS = 8

# Words that are explained at once, so that progress can be told.
EXPLAINED_AT_ONCE = 1_000

Advance = Callable[[str, int, int], None]


def write(
    target: str,
    name: str,
    vectors: CipherVectors,
    most_words: int,
    explanations: Explanations | None,
    before: Compared | None,
    advance: Advance,
) -> None:
    """See `pipelines.reports.explore.write_page`."""
    data = page_data(name, vectors, most_words, explanations, before, advance)
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
    with storage.writing(target) as stream:
        stream.write(content)


def page_data(
    name: str,
    vectors: CipherVectors,
    most_words: int,
    explanations: Explanations | None,
    before: Compared | None,
    advance: Advance,
) -> dict[str, Any]:
    """What the page's scripts read; the README of this package says what is in it."""
    rows = choose_rows(vectors, most_words)
    totals = {"neighbors": len(rows), "places": STEPS}
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
        data["before"] = compare(before.name, before.vectors, vectors, rows, word_map.neighbors)
        advance("compare", 1, 1)
    return data


def _contributions(
    explanations: Explanations, rows: np.ndarray, words: Sequence[str], advance: Callable[[int, int], None]
) -> dict[str, Any]:
    """Contributions in arrays of 8 a word; weights of 0 fill up what is missing."""
    numbers = {word: number for number, word in enumerate(words)}
    offsets, weights = np.zeros((len(rows), CONTRIBUTIONS), np.int64), np.zeros((len(rows), CONTRIBUTIONS), np.float32)
    contexts = np.zeros((len(rows), CONTRIBUTIONS), np.int64)
    for start in range(0, len(rows), EXPLAINED_AT_ONCE):
        asked = rows[start : start + EXPLAINED_AT_ONCE].tolist()
        for word, found in enumerate(explanations(asked), start):
            for place, (offset, context, weight) in enumerate(found[:CONTRIBUTIONS]):
                offsets[word, place] = offset
                contexts[word, place] = numbers.setdefault(context, len(numbers))
                weights[word, place] = weight
        advance(len(asked), len(rows))
    return {
        "offsets": pack(offsets),
        "contexts": pack(contexts),
        "weights": pack(weights),
        "words": list(numbers)[len(words) :],
        "size": CONTRIBUTIONS,
    }
