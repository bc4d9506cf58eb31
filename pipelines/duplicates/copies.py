"""Exact copies in a partition of the keys.

A partition has all rows of the keys in it, in any order. The copy that is kept is the first by rank: documents that
are already published, then smaller priorities, then smaller ids. Rank depends on the content of documents, so the
results do not depend on the order of rows, the number of partitions or the workers.
"""

import numpy as np
import pyarrow as pa

PAIRS = pa.schema({"document": pa.uint64(), "priority": pa.uint64(), "kept": pa.uint64(), "kept_priority": pa.uint64()})
LINES = pa.schema({"document": pa.uint64(), "position": pa.uint32()})


def find_copies(keys: pa.Table, first_new: int = 0) -> pa.Table:
    """Return each document whose key is that of a document of higher rank, `PAIRS`, sorted by document.

    Args:
        keys: `DOCUMENT_KEYS` of one partition.
        first_new: documents with smaller ids are already published.
    """
    key, key_low, document, priority = columns_of(keys, "key", "key_low", "document", "priority")
    order = np.lexsort((document, priority, document >= first_new, key_low, key))
    group = group_starts(key[order], key_low[order])
    copies = np.flatnonzero(group != np.arange(len(group)))
    return make_pairs(document, priority, order[copies], order[group[copies]])


def find_paragraph_copies(keys: pa.Table, first_new: int = 0) -> pa.Table:
    """Return the paragraphs of new documents that are copies of a paragraph before them, `LINES`, sorted.

    The kept paragraph is that of the document with the highest rank, and the first one in this document.

    Args:
        keys: `PARAGRAPH_KEYS` of one partition, without those of dropped documents (`without_documents`), because a
            paragraph whose kept copy is dropped would be lost.
        first_new: documents with smaller ids are already published.
    """
    key, document, position, priority = columns_of(keys, "key", "document", "position", "priority")
    order = np.lexsort((position, document, priority, document >= first_new, key))
    group = group_starts(key[order])
    copies = order[group != np.arange(len(group))]
    return _make_lines(document, position, copies[document[copies] >= first_new])


def find_host_lines(keys: pa.Table, min_documents: int, first_new: int = 0) -> pa.Table:
    """Return the lines of new documents that occur in at least `min_documents` documents of a host, `LINES`, sorted.

    Args:
        keys: `HOST_LINE_KEYS` of one partition, without those of dropped documents (`without_documents`), because
            copies of a document would make all its lines recur.
        min_documents: minimum number of documents.
        first_new: documents with smaller ids are already published.
    """
    key, document, position = columns_of(keys, "key", "document", "position")
    order = np.lexsort((document, key))
    group = group_starts(key[order])
    is_first = group_starts(key[order], document[order]) == np.arange(len(order))
    documents = np.bincount(group, weights=is_first, minlength=len(order))
    frequent = order[documents[group] >= min_documents]
    return _make_lines(document, position, frequent[document[frequent] >= first_new])


def without_documents(keys: pa.Table, dropped: np.ndarray) -> pa.Table:
    """Return the rows of a table of keys whose documents are not dropped.

    Args:
        keys: a table with the column `document`.
        dropped: (documents,) uint64, sorted.
    """
    if not len(dropped):
        return keys
    (document,) = columns_of(keys, "document")
    found = np.minimum(np.searchsorted(dropped, document), len(dropped) - 1)
    return keys.filter(pa.array(dropped[found] != document))


def make_pairs(document: np.ndarray, priority: np.ndarray, rows: np.ndarray, kept: np.ndarray) -> pa.Table:
    """Return pairs of documents, `PAIRS`, sorted by the ids of both and without repetitions.

    Args:
        document, priority: columns of a table of keys, uint64.
        rows, kept: (pairs,) rows of the table.
    """
    order = np.lexsort((document[kept], document[rows]))
    order = order[group_starts(document[rows[order]], document[kept[order]]) == np.arange(len(order))]
    rows, kept = rows[order], kept[order]
    return pa.table([document[rows], priority[rows], document[kept], priority[kept]], schema=PAIRS)


def columns_of(table: pa.Table, *names: str) -> list[np.ndarray]:
    """Return columns of a table as NumPy arrays."""
    return [table.column(name).to_numpy() for name in names]


def group_starts(*columns: np.ndarray) -> np.ndarray:
    """Return, for each row of sorted columns, the first row with the same values, (rows,) int64."""
    rows = np.arange(len(columns[0]))
    is_first = np.zeros(len(rows), bool)
    is_first[:1] = True
    for column in columns:
        is_first[1:] |= column[1:] != column[:-1]
    return np.maximum.accumulate(np.where(is_first, rows, 0))


def _make_lines(document: np.ndarray, position: np.ndarray, rows: np.ndarray) -> pa.Table:
    rows = rows[np.lexsort((position[rows], document[rows]))]
    return pa.table([document[rows], position[rows]], schema=LINES)
