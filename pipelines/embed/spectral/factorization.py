"""Factorization of stored counts that do not fit in memory."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pyarrow as pa

from bitcipher.counts.context_window import ContextWindow
from bitcipher.embedding.spectral.ppmi import Marginals, block_count
from bitcipher.embedding.spectral.spectral_embedding import Products
from bitcipher.files import storage
from bitcipher.vocabulary import byte_order
from pipelines.embed.spectral.gather_ranges import add_sums
from pipelines.embed.spectral.ppmi_ranges import PpmiInput, PpmiStage, write_inputs
from pipelines.embed.spectral.range_products import RangeProducts
from pipelines.embed.spectral.word_ranges import CountPaths, entries_left, gather, locate, remove_gathered
from pipelines.embed.stage_runner import RunStage
from pipelines.runtime.free_memory import release_memory
from pipelines.runtime.memory_budget import BYTES_PER_ENTRY

Factored = TypeVar("Factored")


def factor(
    paths: CountPaths,
    words: pa.LargeStringArray,
    context_window: ContextWindow,
    columns: np.ndarray,
    use_products: Callable[[Products, int], Factored],
    range_entries: int,
    row_bytes: int,
    run: RunStage,
    is_one_product: bool = False,
) -> Factored:
    """Factor counts of any size, in ranges of words.

    The products have the same bytes as those of `InMemoryProducts`, for any ranges. Ranges are processed by the
    workers of the runtime. This process holds tables with a row per context word, and some integers per word.

    Args:
        paths: URIs of the counts, and folder for temporary files.
        words: (N,) words of the vocabulary in order of rank.
        context_window: window of the vectors.
        columns: (N,) int32, the column of each word as a context word, or -1 for words to leave out.
        use_products: called with the products and the number of blocks; returns the result.
        range_entries: maximum number of entries (stored pairs) in the memory of a worker.
        row_bytes: bytes of a row of the last product, which a worker holds for each word of its range.
        run: function that runs a stage over inputs.
        is_one_product: whether `use_products` only calls `Products.extend` once, as on kept axes. Then the weights are
            not written for other products.
    """
    blocks = block_count(context_window.size, context_window.summed)
    range_entries = entries_left(range_entries, len(words), blocks)
    try:
        names = gather(paths, context_window, range_entries, run)
        (entries,) = add_sums(paths.work, names, range(blocks, blocks + 1), len(words))
        ranks = byte_order(words).astype(np.int32)
        located = locate(paths, names, entries[ranks] + -(-row_bytes // BYTES_PER_ENTRY), range_entries, run)
        of_ranges = (ranks[part.start : part.stop] for part in located)
        words_of_ranges = [np.sort(each[entries[each] > 0]) for each in of_ranges]
        del entries, ranks
        release_memory()
        sums = add_sums(paths.work, names, range(blocks), len(words))
        write_inputs(paths.work, sums, columns)
        inputs = [PpmiInput(index, each.row_ranges) for index, each in enumerate(located)]
        if not is_one_product:
            for _ in run(PpmiStage, {"work": paths.work}, inputs):
                pass
            remove_gathered(paths)
        marginals = Marginals.of_sums(sums)
        products = RangeProducts(paths.work, inputs, words_of_ranges, columns, marginals, run, not is_one_product)
        return use_products(products, blocks)
    finally:
        storage.remove(paths.work)
