"""Near duplicates in a partition of the keys: documents that share a band and have similar sketches."""

import numpy as np
import pyarrow as pa

from pipelines.duplicates.copies import columns_of, group_starts, make_pairs
from pipelines.duplicates.near_keys import SKETCH_COLUMNS
from pipelines.duplicates.options import NearOptions

# Documents of a group with which each of the others is compared. Without this limit, a band that is common on a large
# host would take time quadratic in its documents.
MAX_COMPARED = 64


def find_near_pairs(keys: pa.Table, options: NearOptions, first_new: int = 0) -> pa.Table:
    """Return pairs of near duplicates, `PAIRS`: a document, and the first by rank to which it is similar.

    Documents with the same key are a group. Each document is compared with those of higher rank in its group (see
    `pipelines.duplicates.copies`), up to the first `MAX_COMPARED`.

    Args:
        keys: `NEAR_KEYS` of one partition, in any order.
        options: options with which the keys were computed.
        first_new: documents with smaller ids are already published.
    """
    key, document, priority, *sketch = columns_of(keys, "key", "document", "priority", *SKETCH_COLUMNS)
    order = np.lexsort((document, priority, document >= first_new, key))
    sketches = np.stack(sketch, axis=1)[order]
    starts = group_starts(key[order])
    position = np.arange(len(order)) - starts
    rows, matches = [], []
    pending = np.arange(len(order))
    for compared in range(MAX_COMPARED):
        pending = pending[position[pending] > compared]
        others = starts[pending] + compared
        is_similar = _distances(sketches[pending], sketches[others]) <= options.max_distance
        rows.append(pending[is_similar])
        matches.append(others[is_similar])
        pending = pending[~is_similar]
    return make_pairs(document, priority, order[np.concatenate(rows)], order[np.concatenate(matches)])


def _distances(sketches: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the number of signature values that differ in either of their two bits, (pairs,) integers.

    Args:
        sketches, others: (pairs, 4) uint64 from `make_sketches`.
    """
    differing = sketches ^ others
    return np.bitwise_count(differing[:, :2] | differing[:, 2:]).sum(axis=1)
