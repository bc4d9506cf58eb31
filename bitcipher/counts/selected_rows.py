"""The pairs of some words, found in all pairs of segments.

A pair is stored once, in the row of its left word. To find all pairs of a word, the column of the right words is read,
and the counts only where it has one of the words. Nothing has to be sorted or stored by right word.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from bitcipher.count_limits import check_pair_counts
from bitcipher.counts.merge import renumber
from bitcipher.counts.pairs import PairBlock, PairGroups, open_groups, select_pairs, select_rows
from bitcipher.errors import BitcipherError
from bitcipher.kernel_cache import kernel

# Row groups of a part that a thread reads before it opens the files again.
GROUPS_PER_TASK = 8


Selected = TypeVar("Selected")


class SelectedRows(NamedTuple):
    """The pairs of some words in a block of counts. A pair of two of these words is in both fields."""

    of_left: PairBlock
    """Rows whose left word is one of them, with all their pairs."""
    of_right: PairBlock
    """Pairs whose right word is one of them."""


def select_words(block: PairBlock, selected: np.ndarray) -> SelectedRows:
    """Return the pairs of some words in a block in memory.

    Args:
        block: rows in any order.
        selected: (V,) bool, whether the word of each number is one of them.
    """
    return SelectedRows(select_rows(block, selected[block.left]), select_pairs(block, selected[block.right]))


def iter_selected(
    segments: Sequence[Sequence[str]], ranks: Sequence[np.ndarray], selected: np.ndarray, window: int, threads: int
) -> Iterator[SelectedRows]:
    """Yield the pairs of some words in segments, with words numbered by rank, in a fixed order.

    Args:
        segments: URIs of the parts of each segment.
        ranks: for each segment, the rank of each word number, (words,) int32.
        selected: (N,) bool, the words by rank.
        window: the largest offset.
        threads: number of threads that read.

    Raises:
        BitcipherError: if a file is missing or damaged.
    """
    numbers_of_words = [selected[of_segment] for of_segment in ranks]

    def select(groups: PairGroups, group: int, segment: int) -> SelectedRows:
        found = _select_group(groups, group, numbers_of_words[segment], window)
        return SelectedRows(*(renumber(block, ranks[segment]) for block in found))

    return _iter_groups(segments, select, threads)


def iter_among(
    segments: Sequence[Sequence[str]], ranks: Sequence[np.ndarray], selected: np.ndarray, threads: int
) -> Iterator[PairBlock]:
    """Yield the pairs of two of some words in segments. The arguments are those of `iter_selected`."""
    numbers_of_words = [selected[of_segment] for of_segment in ranks]

    def select(groups: PairGroups, group: int, segment: int) -> PairBlock:
        found = _select_among(groups, group, numbers_of_words[segment])
        return renumber(found, ranks[segment])

    return _iter_groups(segments, select, threads)


def _iter_groups(
    segments: Sequence[Sequence[str]], select: Callable[[PairGroups, int, int], Selected], threads: int
) -> Iterator[Selected]:
    """Yield what a function returns for each row group of segments, in a fixed order.

    Args:
        segments: URIs of the parts of each segment.
        select: called with the row groups of a part, the number of one of them, and the number of the segment.
        threads: number of threads that call it.
    """

    def read(task: tuple[int, str, range]) -> list[Selected]:
        segment, part, numbers = task
        with open_groups(part) as groups:
            return [select(groups, number, segment) for number in numbers]

    tasks = [
        (segment, part, range(first, min(first + GROUPS_PER_TASK, groups)))
        for segment, parts in enumerate(segments)
        for part in parts
        for groups in [_count_groups(part)]
        for first in range(0, groups, GROUPS_PER_TASK)
    ]
    with ThreadPoolExecutor(threads) as pool:
        for found in pool.map(read, tasks):
            yield from found


def _count_groups(part: str) -> int:
    with open_groups(part) as groups:
        return len(groups)


def _select_group(groups: PairGroups, number: int, selected: np.ndarray, window: int) -> SelectedRows:
    """Return the pairs of some words in a row group.

    Args:
        groups: the row groups of a part.
        number: number of the row group.
        selected: (V,) bool, whether the word of each number of the segment is one of them.
        window: the largest offset.
    """
    left, offset, length, starts = _read_rows(groups, number, len(selected))
    right = groups.rights(number)
    positions = np.empty(len(right), np.int32)
    found = _find(right, selected, positions)
    if found < 0 or starts[-1] != len(right):
        raise _damaged(groups.uri)
    in_window = offset <= window
    rows_of_right = np.searchsorted(starts, positions[:found], side="right") - 1
    kept = in_window[rows_of_right]
    positions, rows_of_right = positions[:found][kept], rows_of_right[kept]
    rows_of_left = np.flatnonzero(selected[left] & in_window)
    count = _read_counts(groups, number) if len(positions) or len(rows_of_left) else np.empty(0, np.int64)
    pairs = np.empty(int(length[rows_of_left].sum()), np.int32)
    _list_pairs(starts, rows_of_left, pairs)
    rows, lengths = np.unique(rows_of_right, return_counts=True)
    return SelectedRows(
        PairBlock(left[rows_of_left], offset[rows_of_left], length[rows_of_left], right[pairs], count[pairs]),
        PairBlock(left[rows], offset[rows], lengths, right[positions], count[positions]),
    )


def _select_among(groups: PairGroups, number: int, selected: np.ndarray) -> PairBlock:
    """Return the pairs of two of some words in a row group. The arguments are those of `_select_group`."""
    left, offset, length, starts = _read_rows(groups, number, len(selected))
    rows = np.flatnonzero(selected[left])
    pairs = np.empty(int(length[rows].sum()), np.int32)
    if not len(pairs):
        return PairBlock(*(column[:0] for column in (left, offset, length, pairs, length)))
    right = groups.rights(number)
    if starts[-1] != len(right):
        raise _damaged(groups.uri)
    _list_pairs(starts, rows, pairs)
    positions = np.empty(len(pairs), np.int32)
    found = _find(right[pairs], selected, positions)
    if found < 0:
        raise _damaged(groups.uri)
    block = PairBlock(left[rows], offset[rows], length[rows], right[pairs], pairs.astype(np.int64))
    among = np.zeros(len(pairs), bool)
    among[positions[:found]] = True
    block = select_pairs(block, among)
    return block._replace(count=_read_counts(groups, number)[block.count] if found else block.count)


def _read_rows(groups: PairGroups, number: int, words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return left words, offsets, lengths and starts of the rows of a row group, after a check of their values."""
    left, offset, length = groups.rows(number)
    if length.min(initial=0) < 0 or not 0 <= left.min(initial=0) <= left.max(initial=0) < words:
        raise _damaged(groups.uri)
    return left, offset, length, np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])


def _read_counts(groups: PairGroups, number: int) -> np.ndarray:
    count = groups.counts(number)
    check_pair_counts(count, groups.uri)
    return count


def _damaged(uri: str) -> BitcipherError:
    return BitcipherError(f"The pairs of {uri} are damaged: build again.")


@kernel
def _find(right, selected, positions):
    """Write the positions of selected right words, and return their number, or -1 if a word has no number below V."""
    found = 0
    for position in range(len(right)):
        word = right[position]
        if not 0 <= word < len(selected):
            return -1
        positions[found] = position
        found += selected[word]
    return found


@kernel
def _list_pairs(starts, rows, pairs):
    """Write the indices of all pairs of some rows."""
    filled = 0
    for row in rows:
        for pair in range(starts[row], starts[row + 1]):
            pairs[filled] = pair
            filled += 1
