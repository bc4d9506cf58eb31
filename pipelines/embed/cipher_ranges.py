"""Tables of modes cat, sum and cipher in ranges of words, for tables and counts that are too large for one worker."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.vocabulary_file import VocabularyFile
from bitcipher.embedding.cipher_embedding import CipherEmbedding, WordCiphers
from bitcipher.embedding.refinement import Refinement
from bitcipher.embedding.row_blocks import Measure, RowSource, group_starts, sum_group, sum_in_order
from bitcipher.embedding.spectral.ppmi import block_count
from bitcipher.files import storage
from bitcipher.vocabulary import byte_order
from pipelines.embed.spectral.gather_ranges import add_sums
from pipelines.embed.spectral.pair_arrays import read_ranges
from pipelines.embed.spectral.stored_rows import RankedRows, StoredRows, write_ranked
from pipelines.embed.spectral.word_ranges import CountPaths, LocatedWords, entries_left, gather, locate, remove_gathered
from pipelines.embed.stage_runner import RunStage
from pipelines.embed.table_vectors import RawTable
from pipelines.options import EmbeddingOptions
from pipelines.runtime.memory_budget import BYTES_PER_ENTRY


class RawRowStage:
    """Stage that computes the raw rows of a range of words in mode cat or sum.

    Args:
        vocabulary: file of the vocabulary.
        work: folder for temporary files.
        options: options of the vectors.
    """

    def __init__(self, vocabulary: VocabularyFile, work: str, options: EmbeddingOptions):
        words = vocabulary.read()
        self._ranks = words.by_bytes
        self._embedding = cast(CipherEmbedding, options.estimator())
        self._ciphers = self._embedding.context_ciphers(words)
        self._work = work

    def __call__(self, item: LocatedWords) -> Iterator[RankedRows]:
        """Yield the files of the rows when they are written."""
        ranks = np.sort(self._ranks[item.start : item.stop]).astype(np.int32)
        pairs = (read_ranges([row_range]) for row_range in item.row_ranges)
        rows = self._embedding.rows(ranks, pairs, self._ciphers)
        uri = storage.join(self._work, "rows", f"{item.start:011d}")
        yield write_ranked(uri, ranks, rows, len(self._ranks))


@dataclass(frozen=True)
class CipherModeRows:
    """Rows of mode cipher, which are computed when they are read."""

    vocabulary: VocabularyFile
    options: EmbeddingOptions
    words: int
    """Number of words."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.words, self.options.bits

    @property
    def in_memory(self) -> bool:
        """Whether this process has the rows in memory: never."""
        return False

    @cached_property
    def _ciphers(self) -> WordCiphers:
        return cast(CipherEmbedding, self.options.estimator()).word_ciphers(self.vocabulary.read())

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from `start` on and before `stop`."""
        return self._ciphers.rows(start, stop)


@dataclass(frozen=True)
class GroupSum:
    """Output of `GroupSumStage`: the sum over a group of rows."""

    start: int
    """First row of the group."""
    total: np.ndarray


class GroupSumStage:
    """Stage that adds up a function over a group of rows of a table.

    Args:
        rows: the table.
        measure: the function.
    """

    def __init__(self, rows: RowSource, measure: Measure):
        self._rows = rows
        self._measure = measure

    @threadpool_limits.wrap(limits=1)
    def __call__(self, start: int) -> Iterator[GroupSum]:
        """Return one output, the sum over the group that begins at a row."""
        return iter([GroupSum(start, sum_group(self._rows, self._measure, start))])


def cipher_table(
    paths: CountPaths, context_window: ContextWindow, options: EmbeddingOptions, range_entries: int, run: RunStage
) -> RawTable:
    """Return a table of mode cat, sum or cipher, whose rows are in files.

    The bytes are those of the table in memory, for any ranges: sums of counts and codes are sums of integers, and sums
    over rows are added up in a fixed order.

    Args:
        paths: URIs of the counts, and folder for temporary files.
        context_window: window of the counts.
        options: options of the vectors.
        range_entries: maximum number of entries (stored pairs) in the memory of a worker.
        run: function that runs a stage over inputs.

    Raises:
        BitcipherError: if the options do not match the counts, or there is too little text.
    """
    if options.mode == "cipher":
        rows = CipherModeRows(paths.vocabulary, options, len(paths.vocabulary.read()))
    else:
        rows = _sum_ranges(paths, context_window, options, range_entries, run)
    refinement = _fit(rows, run)
    return RawTable(rows, refinement.transform, refinement.arrays, {})


def _sum_ranges(
    paths: CountPaths, context_window: ContextWindow, options: EmbeddingOptions, range_entries: int, run: RunStage
) -> StoredRows:
    """Write the raw rows of all words of mode cat or sum."""
    embedding = cast(CipherEmbedding, options.estimator())
    embedding.check_context_window(context_window)
    order = byte_order(paths.vocabulary.read().words)
    window = ContextWindow(embedding.window, context_window.summed)
    words, blocks = len(order), block_count(window.size, window.summed)
    range_entries = entries_left(range_entries, words, blocks)
    names = gather(paths, window, range_entries, run)
    (entries,) = add_sums(paths.work, names, range(blocks, blocks + 1), words)
    # A worker holds the sums of a row, the row, and its copy while it is written.
    row_bytes = 8 * (3 * embedding.vector_size + embedding.vector_size // embedding.bits)
    sizes = entries[order] + -(-row_bytes // BYTES_PER_ENTRY)
    located = locate(paths, names, sizes, range_entries, run)
    arguments = {"vocabulary": paths.vocabulary, "work": paths.work, "options": options}
    files = sorted(run(RawRowStage, arguments, located), key=lambda file: file.rows)
    remove_gathered(paths)
    return StoredRows((words, embedding.vector_size), "float64", files)


def _fit(rows: RowSource, run: RunStage) -> Refinement:
    """Learn the refinement of a table from sums over groups of its rows."""

    def sum_table(measure: Measure) -> np.ndarray:
        starts = group_starts(rows.shape[0])
        groups = run(GroupSumStage, {"rows": rows, "measure": measure}, list(starts))
        totals = {group.start: group.total for group in groups}
        return sum_in_order(totals[start] for start in starts)

    return Refinement().fit_sums(sum_table)
