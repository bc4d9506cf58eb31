"""Which documents are dropped: one document is kept of each cluster of duplicates and near duplicates."""

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pipelines.duplicates.copies import PAIRS, columns_of
from pipelines.duplicates.keys import ROW_BITS

DUPLICATE_DOCUMENT = "duplicate document"
NEAR_DUPLICATE = "near duplicate"

DECISIONS = pa.schema({"document": pa.uint64(), "kept": pa.uint64(), "reason": pa.string()})


def join_pairs(pairs: pa.Table, first_new: int = 0) -> pa.Table:
    """Join pairs to clusters: return each document with the one of the highest rank in its cluster, `PAIRS`, sorted.

    Clusters are connected components: if a is similar to b and b to c, they are one cluster. The result joins the same
    documents as the pairs, so pairs of many partitions can be joined a few at a time.

    Args:
        pairs: `PAIRS` in any order. Repetitions have no effect.
        first_new: documents with smaller ids are already published, and have a higher rank than all others.
    """
    document, priority, kept, kept_priority = columns_of(pairs, *PAIRS.names)
    documents, first, ids = np.unique(np.concatenate([document, kept]), return_index=True, return_inverse=True)
    priorities = np.concatenate([priority, kept_priority])[first]
    order = np.lexsort((documents, priorities, documents >= first_new))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    left, right = rank[ids[: len(document)]], rank[ids[len(document) :]]
    graph = coo_array((np.ones(len(left), bool), (left, right)), shape=(len(order), len(order)))
    _, cluster = connected_components(graph, directed=False)
    # Nodes are ranks, so the first node of a cluster is the one to keep.
    _, first_of_cluster = np.unique(cluster, return_index=True)
    kept_row = order[first_of_cluster[cluster[rank]]]
    rows = np.flatnonzero(kept_row != np.arange(len(documents)))
    kept_row = kept_row[rows]
    columns = [documents[rows], priorities[rows], documents[kept_row], priorities[kept_row]]
    return pa.table(columns, schema=PAIRS)


def decide_documents(copies: pa.Table, near_pairs: pa.Table, first_new: int = 0) -> pa.Table:
    """Return the new documents to drop, the document that is kept instead, and the reason, `DECISIONS`, sorted.

    Of each cluster, the document with the highest rank is kept. Published documents are never dropped, even if a
    cluster has several.

    Args:
        copies: `PAIRS` of all partitions from `find_copies`, or from `join_pairs` of them.
        near_pairs: `PAIRS` of all partitions from `find_near_pairs`, or from `join_pairs` of them.
        first_new: documents with smaller ids are already published.
    """
    joined = join_pairs(pa.concat_tables([copies, near_pairs]), first_new)
    document, kept = columns_of(joined, "document", "kept")
    is_new = document >= first_new
    document, kept = document[is_new], kept[is_new]
    is_copy = np.isin(document, copies.column("document").to_numpy())
    reason = pa.array(np.where(is_copy, DUPLICATE_DOCUMENT, NEAR_DUPLICATE), pa.string())
    return pa.table([document, kept, reason], schema=DECISIONS)


def select_file(table: pa.Table, file: int) -> pa.Table:
    """Return the rows of a file in `DECISIONS` or `LINES`, with the column `row` (int64) instead of `document`.

    Args:
        table: sorted by document.
        file: number of the file.
    """
    (document,) = columns_of(table, "document")
    start, stop = np.searchsorted(document >> np.uint64(ROW_BITS), [file, file + 1])
    rows = (document[start:stop] & np.uint64((1 << ROW_BITS) - 1)).astype(np.int64)
    return table.slice(start, stop - start).set_column(0, "row", pa.array(rows))
