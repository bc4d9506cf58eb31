"""Order of the sequences of a run in which batches have sequences of similar lengths, and so need little padding."""

import numpy as np

from training.data.counter_rng import derive_key
from training.data.token_streams import SequenceOrder

# Number of batches whose sequences are sorted by length. Fewer of them leave more padding; more of them make batches
# alike.
GROUPED_BATCHES = 50


class LengthGroupedOrder:
    """Random order of the sequences, with a new permutation in each epoch, and with batches of similar lengths.

    A `SequenceOrder` is cut into groups of `GROUPED_BATCHES` batches, and where an epoch ends. The sequences of a group
    are sorted by length, and distributed to its batches in random order. Any position can be queried.

    Args:
        lengths: [N, K] K lengths of each sequence, such as that of a source and that of a target; sequences are sorted
            by the last one first.
        batch_size: number of consecutive positions of the run that form a batch; the first batch begins at position 0.
        seed: seed of the order.
    """

    def __init__(self, lengths: np.ndarray, batch_size: int, seed: int):
        self._lengths = lengths
        self._batch_size = batch_size
        self._seed = seed
        self._order = SequenceOrder(len(lengths), seed)
        self._latest_group = -1, np.empty(0, np.int64)
        self._latest_sum = 0, 0, 0

    def sequence_ids(self, positions: np.ndarray) -> np.ndarray:
        """Return the ids of the sequences at positions of a run.

        Args:
            positions: [B] int64, at least 0. Epoch e has the positions e · N to (e + 1) · N - 1.

        Returns:
            [B] int64, from 0 to N - 1.
        """
        size = GROUPED_BATCHES * self._batch_size
        # A group that an epoch ends in is two groups.
        starts = np.maximum(positions // size * size, positions // self._order.total * self._order.total)
        ids = np.empty(len(positions), np.int64)
        for start in np.unique(starts).tolist():
            is_here = starts == start
            ids[is_here] = self._ids_of_group(start)[positions[is_here] - start]
        return ids

    def sum_lengths(self, n_sequences: int) -> int:
        """Return the sum of the lengths of the first sequences of a run, such as the number of tokens it has read.

        Args:
            n_sequences: number of sequences, from position 0 on.
        """
        epoch, count = divmod(n_sequences, self._order.total)
        latest_epoch, start, total = self._latest_sum  # a run asks for more and more sequences
        if epoch != latest_epoch or count < start:
            start, total = 0, 0
        positions = epoch * self._order.total + np.arange(start, count)
        total += int(self._lengths[self.sequence_ids(positions)].sum())
        self._latest_sum = epoch, count, total
        return epoch * int(self._lengths.sum()) + total

    def _ids_of_group(self, start: int) -> np.ndarray:
        """Return the ids of the sequences at all positions of the group that begins at a position."""
        latest = self._latest_group  # a run reads all batches of a group in a row
        if latest[0] != start:
            latest = self._latest_group = start, self._sort_group(start)
        return latest[1]

    def _sort_group(self, start: int) -> np.ndarray:
        size, total = GROUPED_BATCHES * self._batch_size, self._order.total
        positions = np.arange(start, min((start // size + 1) * size, (start // total + 1) * total))
        ids = self._order.sequence_ids(positions)
        batches = positions // self._batch_size - start // self._batch_size
        shuffled = SequenceOrder(int(batches[-1]) + 1, derive_key(self._seed, "batches", start))
        ranks = shuffled.sequence_ids(np.arange(shuffled.total))
        found = np.empty_like(ids)
        # The batch of rank 0 gets the shortest sequences. The sort is stable, so positions of a batch stay in order.
        found[np.argsort(ranks[batches], kind="stable")] = ids[np.lexsort(self._lengths[ids].T)]
        return found
