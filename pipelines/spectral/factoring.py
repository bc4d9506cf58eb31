"""A factorisation of kept counts, range by range: from the segments to the table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.counts import Window
from bitcipher.embedding.spectral import SpectralEmbedding, Spectrum, block_count
from pipelines.budget import BYTES_OF_ENTRY
from pipelines.merged import read_vocabulary
from pipelines.runtime import Row, Runtime, StageSpec
from pipelines.spectral.gather import FindStage, GatherStage, read_sums
from pipelines.spectral.multiply import RowsInFiles
from pipelines.spectral.ranks import RankStage
from pipelines.spectral.weigh import WeighStage, write_sums
from pipelines.words import cut_ranges, merge_words

OOV_PIECE = "oov"

# To a word of the vocabulary, what a worker holds beside a range: its place, its name, dense totals; and to a block,
# its sum, with two logarithms.
BYTES_OF_WORD = 64
BYTES_OF_SUM = 24


@dataclass(frozen=True)
class Places:
    """Where counts lie, and where there is room for what is needed for a moment.

    Attributes:
        vocabulary: its file.
        segments: the parts of each, by URI.
        work: a folder of one's own, which is removed in the end.
    """

    vocabulary: str
    segments: Sequence[Sequence[str]]
    work: str


def factor(
    places: Places,
    window: Window,
    embedding: SpectralEmbedding,
    range_entries: int,
    runtime: Runtime,
    on_costs: Callable[[list[Row]], None] = lambda costs: None,
    on_products: Callable[[Any], Any] = lambda products: products,
) -> Spectrum:
    """The table of counts of any size: the same bytes as `SpectralEmbedding.table` gives, whatever the ranges.

    Args:
        places: of the counts.
        window: with the radius that is wanted.
        embedding: what is wanted.
        range_entries: entries that a worker may hold at once.
        runtime: where ranges are worked on; what is as large as the table is done here.
        on_costs: called with what each piece of work took.
        on_products: given the products, gives those that are used.
    """

    def run(make: Callable[..., Any], arguments: Row, rows: list[Row]) -> Iterator[Row]:
        for result in runtime.stream(StageSpec("products", make, arguments), rows):
            on_costs(result["costs"])
            yield result

    vocabulary = read_vocabulary(places.vocabulary)
    words, blocks = len(vocabulary), block_count(window.radius, window.summed)
    beside = words * (BYTES_OF_WORD + blocks * BYTES_OF_SUM) // BYTES_OF_ENTRY
    range_entries = max(range_entries - beside, range_entries // 4, 1)
    try:
        pieces = _gather(places, window, range_entries, run)
        sums = sum(read_sums(places.work, piece) for piece in pieces)
        write_sums(places.work, sums[:-1])
        ranges = _weigh(places, pieces, sums[-1][np.argsort(vocabulary.row_order())], range_entries, run)
        products = on_products(RowsInFiles(places.work, ranges, run))
        return embedding.factor(products, words, blocks)
    finally:
        storage.remove(places.work)


def _gather(places: Places, window: Window, range_entries: int, run: Callable[..., Iterator[Row]]) -> list[str]:
    """Make the pieces; returns their names."""
    words = merge_words(places.segments)
    firsts = [words["word"][first].as_py() for first, _ in cut_ranges(words, range_entries)]
    segments = [{"segment": number, "parts": parts, "firsts": firsts} for number, parts in enumerate(places.segments)]
    of_all = {"vocabulary": places.vocabulary, "work": places.work}
    runs = {row["segment"]: row["runs"] for row in run(RankStage, of_all, segments)}
    rows = [
        {"piece": f"{index:05d}", "runs": [(segment, runs[segment][index]) for segment in sorted(runs)]}
        for index in range(len(firsts))
    ]
    arguments = {**of_all, "radius": window.radius, "summed": window.summed, "range_entries": range_entries}
    names = [row["piece"] for row in rows]
    for _ in run(GatherStage, arguments, rows):
        pass
    for _ in run(GatherStage, arguments, [{"piece": OOV_PIECE, "ranges": names}]):
        pass
    return [*names, OOV_PIECE]


def _weigh(
    places: Places,
    pieces: list[str],
    entries: np.ndarray,
    range_entries: int,
    run: Callable[..., Iterator[Row]],
) -> int:
    """Weigh the vocabulary, whose words have so many entries in the order of their bytes; returns how many ranges."""
    bounds = [first for first, _ in cut_ranges(pa.table({"entries": entries}), range_entries)] + [len(entries)]
    of_all = {"vocabulary": places.vocabulary, "work": places.work}
    found = {
        row["piece"]: row["runs"]
        for row in run(FindStage, of_all, [{"piece": piece, "bounds": bounds} for piece in pieces])
    }
    rows = [
        {"index": index, "runs": [run for piece in pieces for run in found[piece][index]]}
        for index in range(len(bounds) - 1)
    ]
    for _ in run(WeighStage, of_all, rows):
        pass
    storage.remove(storage.join(places.work, "pieces"))
    return len(rows)
