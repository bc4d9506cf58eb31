"""Pieces of the counts: ranges of words, added up over all segments, forward and backward.

A piece holds all pairs of its left words, so no pair is in two pieces, whatever the segments. Left words outside the
vocabulary are in every range: what they have is added up last, as a piece of its own.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bitcipher import storage
from bitcipher.counts import (
    ContextWindow,
    PairBlock,
    iter_pairs,
    limit_window,
    merge_rows,
    renumber,
    split,
    write_pairs,
)
from bitcipher.counts.pairs import pair_files
from bitcipher.embedding.spectral import compute_marginals, transpose
from pipelines.embed.spectral.array_files import read_array, write_array
from pipelines.embed.spectral.rank_ranges import read_ranks
from pipelines.merge.merged_counts import read_vocabulary
from pipelines.merge.row_ranges import RowRange
from pipelines.runtime.runtime import Row

# Entries of a row group.
BLOCK_ENTRIES = 1 << 22

# The files of a piece: its pairs by left word, the same by right word, those of left words outside the vocabulary, and
# the sums of each word.
FORWARD, BACKWARD, OOV, SUMS = "forward", "backward", "oov", "sums.npy"


class GatherStage:
    """Makes pieces.

    Args:
        vocabulary: its file.
        work: the folder for what is needed for a moment.
        window: the largest offset that is context.
        summed: whether offsets were added up while counting.
        range_entries: entries that may be held at once.
    """

    def __init__(self, vocabulary: str, work: str, window: int, summed: bool, range_entries: int):
        words = read_vocabulary(vocabulary)
        self._order = words.row_order()
        self._oov_rank = words.oov_rank
        self._work = work
        self._context_window = ContextWindow(window, summed)
        self._range_entries = range_entries

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a range's runs in each segment to its piece; or from all ranges to the piece of `<oov>`."""
        forward, backward, oov, sums = (_uri(self._work, row["piece"], what) for what in (FORWARD, BACKWARD, OOV, SUMS))
        if "ranges" in row:
            rows = self._merge_oov(row["ranges"])
        else:
            rows, oov_rows = merge_rows([*self._read(row["runs"])], self._order, self._oov_rank)
            _write(oov, oov_rows)
        _write(forward, rows)
        turned = self._mirror(rows)
        _write(backward, turned)
        write_array(sums, self._sums(rows, turned))
        yield {"piece": row["piece"]}

    def _read(self, runs: list[tuple[int, list[list[Any]]]]) -> Iterator[PairBlock]:
        for segment, of_segment in runs:
            ranks = read_ranks(self._work, segment)
            for run in of_segment:
                yield renumber(limit_window(RowRange(*run).read(), self._context_window.size), ranks)

    def _merge_oov(self, pieces: list[str]) -> PairBlock:
        held: list[PairBlock] = []
        for piece in pieces:
            held += iter_pairs(_uri(self._work, piece, OOV))
            if sum(len(block.right) for block in held) > self._range_entries:
                held = [merge_rows(held, self._order, self._oov_rank)[1]]
        return merge_rows(held, self._order, self._oov_rank)[1]

    def _mirror(self, rows: PairBlock) -> PairBlock:
        """The same pairs by their right words, in the order of those words' bytes."""
        ranks = np.empty(len(self._order), np.int32)
        ranks[self._order] = np.arange(len(ranks), dtype=np.int32)
        turned = transpose(rows._replace(right=self._order[rows.right].astype(np.int32)), len(ranks))
        return turned._replace(left=ranks[turned.left])

    def _sums(self, rows: PairBlock, turned: PairBlock) -> np.ndarray:
        """(blocks + 1, N) int64: what the piece adds to the marginals, and last to the entries of each word."""
        words = len(self._order)
        sums = compute_marginals([rows, turned], self._context_window.size, self._context_window.summed, words).sums
        entries = np.zeros(words, np.int64)
        for block in (rows, turned):
            np.add.at(entries, block.left, block.length)
        return np.vstack([sums, entries])


class FindStage:
    """Finds where ranges of the vocabulary lie in a piece.

    Args:
        vocabulary: its file.
        work: the folder for what is needed for a moment.
    """

    def __init__(self, vocabulary: str, work: str):
        self._order = read_vocabulary(vocabulary).row_order()
        self._work = work

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a piece and the bounds of ranges, by places in the order of bytes, to its runs in each."""
        found: list[list[RowRange]] = [[] for _ in row["bounds"][1:]]
        for uri in (_uri(self._work, row["piece"], way) for way in (FORWARD, BACKWARD)):
            table = storage.read_table(pair_files(uri)[0])
            rows = np.searchsorted(self._order[table["left"].to_numpy()], row["bounds"])
            entries = np.concatenate([np.zeros(1, np.int64), np.cumsum(table["length"].to_numpy())])[rows]
            for place, runs in enumerate(found):
                if rows[place] < rows[place + 1]:
                    bounds = (rows[place], rows[place + 1], entries[place], entries[place + 1])
                    runs.append(RowRange(uri, *map(int, bounds)))
        yield {"piece": row["piece"], "runs": found}


def read_sums(work: str, piece: str) -> np.ndarray:
    """What a piece adds to the marginals, (blocks, N) int64, and in a last row to the entries of each word."""
    return read_array(_uri(work, piece, SUMS))


def _write(uri: str, rows: PairBlock) -> None:
    for _ in write_pairs(uri, split(rows, BLOCK_ENTRIES)):
        pass


def _uri(work: str, piece: str, what: str) -> str:
    return storage.join(work, "pieces", f"{piece}-{what}")
