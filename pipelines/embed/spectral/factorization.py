"""A factorization of kept counts, range by range: from the segments to the table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.counts import ContextWindow
from bitcipher.embedding.spectral import SpectralEmbedding, Spectrum, block_count
from pipelines.embed.spectral.gather_ranges import FindStage, GatherStage, read_sums
from pipelines.embed.spectral.ppmi_ranges import PpmiStage, write_sums
from pipelines.embed.spectral.range_products import RangeProducts
from pipelines.embed.spectral.rank_ranges import RankStage
from pipelines.merge.merged_counts import read_vocabulary
from pipelines.merge.words import cut_ranges, merge_words
from pipelines.runtime.memory_budget import BYTES_OF_ENTRY
from pipelines.runtime.runtime import Row, Runtime, StageSpec

OOV_PIECE = "oov"

# To a word of the vocabulary, what a worker holds beside a range: its place, its name, dense totals; and to a block,
# its sum, with two logarithms.
BYTES_OF_WORD = 64
BYTES_OF_SUM = 24


@dataclass(frozen=True)
class CountPaths:
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
    places: CountPaths,
    context_window: ContextWindow,
    embedding: SpectralEmbedding,
    range_entries: int,
    runtime: Runtime,
    on_costs: Callable[[list[Row]], None] = lambda costs: None,
    on_products: Callable[[Any], Any] = lambda products: products,
) -> Spectrum:
    """The table of counts of any size: the same bytes as `SpectralEmbedding.table` gives, whatever the ranges.

    Args:
        places: of the counts.
        context_window: with the radius that is wanted.
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
    words, blocks = len(vocabulary), block_count(context_window.size, context_window.summed)
    beside = words * (BYTES_OF_WORD + blocks * BYTES_OF_SUM) // BYTES_OF_ENTRY
    range_entries = max(range_entries - beside, range_entries // 4, 1)
    try:
        pieces = _gather(places, context_window, range_entries, run)
        sums = sum(read_sums(places.work, piece) for piece in pieces)
        write_sums(places.work, sums[:-1])
        ranges = _weigh(places, pieces, sums[-1][np.argsort(vocabulary.row_order())], range_entries, run)
        products = on_products(RangeProducts(places.work, ranges, run))
        return embedding.factor(products, words, blocks)
    finally:
        storage.remove(places.work)


def _gather(
    places: CountPaths, context_window: ContextWindow, range_entries: int, run: Callable[..., Iterator[Row]]
) -> list[str]:
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
    arguments = {
        **of_all,
        "window": context_window.size,
        "summed": context_window.summed,
        "range_entries": range_entries,
    }
    names = [row["piece"] for row in rows]
    for _ in run(GatherStage, arguments, rows):
        pass
    for _ in run(GatherStage, arguments, [{"piece": OOV_PIECE, "ranges": names}]):
        pass
    return [*names, OOV_PIECE]


def _weigh(
    places: CountPaths,
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
    for _ in run(PpmiStage, of_all, rows):
        pass
    storage.remove(storage.join(places.work, "pieces"))
    return len(rows)
