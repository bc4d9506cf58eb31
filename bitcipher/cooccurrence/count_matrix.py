"""Sparse matrices of pair counts, read from segments one range of words at a time."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from bitcipher.counts.merge import merge_rows, renumber
from bitcipher.counts.merged_segments import iter_merged_rows
from bitcipher.counts.pairs import PairBlock, concatenate, select_rows
from bitcipher.counts.selected_rows import iter_among


def read_counts_among(
    segments: Sequence[Sequence[str]],
    ranks: Sequence[np.ndarray],
    words: np.ndarray,
    vocabulary: int,
    shared: int,
    offset: int | None,
    threads: int,
) -> csr_array:
    """Return the number of times that each of some words occurs after each other of them, (n, n) int64.

    Args:
        segments: URIs of the parts of each segment.
        ranks: for each segment, the rank of each word number, (words,) int32.
        words: (n,) int32, ranks of the words, in the order of the rows and columns.
        vocabulary: number of words of the vocabulary.
        shared: row and column that many word numbers share, or -1.
        offset: distance of the pairs, at least 1; by default all stored offsets are added up.
        threads: number of threads that read.
    """
    position = np.full(vocabulary, -1, np.int32)
    position[words] = np.arange(len(words), dtype=np.int32)
    blocks: list[PairBlock] = []
    for block in iter_among(segments, ranks, position >= 0, threads):
        found = block if offset is None else select_rows(block, block.offset == offset)
        blocks.append(renumber(found._replace(offset=np.zeros_like(found.offset)), position))
    return _to_matrix(concatenate(merge_rows(blocks, np.arange(len(words)), shared)), len(words))


def read_forward_counts(
    segments: Sequence[Sequence[str]],
    ranks: Sequence[np.ndarray],
    size: int,
    shared: int,
    offset: int | None = None,
) -> csr_array:
    """Return the number of times that each word occurs after each other word, (n, n) int64.

    Pairs of other offsets are dropped before the rows of a range of words are added up. The peak of memory is about
    twice the result, and one range of words.

    Args:
        segments: URIs of the parts of each segment.
        ranks: for each segment, the rank of each word number, (words,) int32, which is its row and column.
        size: number of rows and columns n.
        shared: row and column that many words share, or -1.
        offset: distance of the pairs, at least 1; by default all stored offsets are added up.
    """

    def select(block: PairBlock, segment: int) -> PairBlock:
        if offset is not None:
            block = select_rows(block, block.offset == offset)
        return renumber(block._replace(offset=np.zeros_like(block.offset)), ranks[segment])

    return _to_matrix(concatenate(iter_merged_rows(segments, select, np.arange(size), shared)), size)


def make_matrix(values: np.ndarray, columns: np.ndarray, starts: np.ndarray, size: int) -> csr_array:
    """Return a matrix of rows of `size` columns, with the smallest indices that SciPy supports.

    Args:
        values: (pairs,) the stored entries, row after row.
        columns: (pairs,) int32, the column of each entry.
        starts: (rows + 1,) int64, the start of each row's entries, and the end of the last row's entries.
        size: number of columns.
    """
    # Sparse arrays convert all indices to the larger of the two types.
    index_type = np.int32 if len(values) <= np.iinfo(np.int32).max else np.int64
    return csr_array((values, columns, starts.astype(index_type)), shape=(len(starts) - 1, size))


def _to_matrix(block: PairBlock, size: int) -> csr_array:
    """Return the matrix of rows that are in any order, each left word at most once."""
    rows = len(block.left)
    # The last row is empty, for words without pairs.
    starts = np.concatenate([[0], np.cumsum(block.length), [len(block.right)]])
    matrix = make_matrix(block.count, block.right, starts, size)
    row_of_word = np.full(size, rows, matrix.indices.dtype)
    row_of_word[block.left] = np.arange(rows)
    return matrix[row_of_word]
