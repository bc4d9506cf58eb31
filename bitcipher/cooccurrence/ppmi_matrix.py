"""PPMI weights of a matrix of pair counts, the same as those of mode spectral."""

import numpy as np
from scipy.sparse import csr_array

from bitcipher.cooccurrence.count_matrix import make_matrix
from bitcipher.counts.pairs import PairBlock, split
from bitcipher.embedding.spectral.ppmi import Marginals, block_of, weight_rows

# Number of pairs that are weighted at a time: 48 bytes each.
BLOCK_ENTRIES = 1 << 22


def ppmi_matrix(counts: csr_array, ranks: np.ndarray, offset: int | None, marginals: Marginals) -> csr_array:
    """Return the PPMI weights of pairs, (n, n) float32. Pairs with the weight 0 are not stored.

    Args:
        counts: (n, n) int64, number of times that the word of column j occurs at `offset` from the word of row i.
        ranks: (n,) int32, rank of each row's and column's word.
        offset: distance of the pairs, or None for the sum over the window in both directions.
        marginals: number of pairs of each word of the vocabulary.
    """
    block_number = block_of(np.array([offset or 0]), len(marginals.sums))[0]
    columns = np.full(marginals.sums.shape[1], -1, np.int32)
    columns[ranks] = np.arange(len(ranks), dtype=np.int32)
    offsets = np.full(len(ranks), offset or 0, np.int16)
    lengths = np.diff(counts.indptr).astype(np.int64)
    block = PairBlock(ranks, offsets, lengths, ranks[counts.indices], counts.data)
    sizes, contexts, weights = [np.zeros(1, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.float32)]
    for part in split(block, BLOCK_ENTRIES):
        weighted = weight_rows(part, marginals, columns)
        starts = weighted.starts[block_number]
        pairs = slice(starts[0], starts[-1])
        positive = weighted.weights[pairs] > 0
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(positive)])
        sizes.append(np.diff(ends[starts - starts[0]]))
        contexts.append(weighted.contexts[pairs][positive])
        weights.append(weighted.weights[pairs][positive])
    starts = np.cumsum(np.concatenate(sizes))
    return make_matrix(np.concatenate(weights), np.concatenate(contexts), starts, len(ranks))
