"""`WordIndex`: approximate nearest neighbors in large tables.

Exact search compares the query with every row. It takes 40 ms for 420,000 rows of 200 dimensions on one core, so an
index is useful from about a million rows. The index is an HNSW graph (Malkov & Yashunin 2020, arXiv:1603.09320), built
and searched by `usearch`. The cosines of the neighbors are computed exactly, so the result differs from that of an
exact search only if the graph misses a neighbor.
"""

import hashlib
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.installation import install_command
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import OOV

if TYPE_CHECKING:
    from usearch.index import Index

# Number of candidates that HNSW compares when it adds a row.
EXPANSION_ADD = 128

# Number of candidates that HNSW compares when it answers a query. Among 85,338 words of 200 dimensions, 512 candidates
# give 98 of 100 neighbors in 3 ms, and 256 candidates give 95 in 2 ms.
EXPANSION_SEARCH = 512

# Rows that are added at once.
BLOCK_ROWS = 1 << 14

# First bytes of a saved index. The digests of its table and of the graph follow in the same line.
_FORMAT = b"bitcipher-index/1"
_HEADER = re.compile(_FORMAT + rb" ([0-9a-f]{64}) ([0-9a-f]{64})\n")


class WordIndex:
    """Index of the vectors of one table, for `most_similar(..., indexer=index)`. `build` and `load` create an index.

    Searches in another table are refused, also in the same table after `add_vectors`.

    >>> from bitcipher import CipherVectors
    >>> vectors = CipherVectors(["cat", "dog", "<oov>"], np.array([[3, 4], [4, 3], [1, 1]], np.float32))
    >>> index = WordIndex.build(vectors)
    >>> vectors.most_similar("cat", indexer=index) == vectors.most_similar("cat")
    True
    """

    def __init__(self, graph: "Index", table_digest: str):
        self._graph = graph
        self._table_digest = table_digest

    @classmethod
    def build(cls, vectors: VectorTable, threads: int = 1) -> "WordIndex":
        """Build the index of a table, without zero vectors and `<oov>`.

        85,338 rows of 200 dimensions take 44 s on one thread, and 45 MB.

        Args:
            vectors: the table.
            threads: number of threads. With more than one, the index is not deterministic, so the neighbors that it
                misses can differ from build to build.

        Raises:
            BitcipherError: if usearch is not installed.
        """
        graph = _new_graph(vectors.vector_size)
        indexed = np.flatnonzero(_is_indexed(vectors))
        for start in range(0, len(indexed), BLOCK_ROWS):
            rows = indexed[start : start + BLOCK_ROWS]
            graph.add(rows, _unit_rows(vectors, rows), threads=threads)
        return cls(graph, vectors.digest)

    def save(self, uri: str | os.PathLike[str]) -> None:
        """Write the index to a file, by local path or URI, with the digest of its table."""
        content: Any = self._graph.save()  # without a path, usearch returns the bytes
        with storage.writing(os.fspath(uri)) as stream:
            stream.write(f"{_FORMAT.decode()} {self._table_digest} {hashlib.sha256(content).hexdigest()}\n".encode())
            stream.write(content)

    @classmethod
    def load(cls, uri: str | os.PathLike[str], vectors: VectorTable) -> "WordIndex":
        """Read the index of a table.

        Raises:
            BitcipherError: if the file is missing, damaged, or belongs to another table, or if usearch is not
                installed.
        """
        uri = os.fspath(uri)
        content = storage.read_bytes(uri)
        if content is None:
            raise BitcipherError(f"There is no file {uri}: create it with WordIndex.build(vectors).save(...).")
        header = _HEADER.match(content)
        if not header or hashlib.sha256(content[header.end() :]).hexdigest() != header[2].decode():
            raise BitcipherError(f"{uri} is not an index, or it is damaged: create it again with `save`.")
        if header[1].decode() != vectors.digest:
            raise BitcipherError(f"{uri} is the index of another table: build one for this table with WordIndex.build.")
        graph = _new_graph(vectors.vector_size)
        graph.load(content[header.end() :])
        graph.expansion_search = EXPANSION_SEARCH
        return cls(graph, vectors.digest)

    def check_table(self, vectors: VectorTable) -> None:
        """Check that this is the index of a table, whose digest is computed once.

        Raises:
            BitcipherError: if the table is another, or was changed since the index was built.
        """
        if vectors.digest != self._table_digest:
            raise BitcipherError(
                "`indexer` is the index of another table, or of this one before it was changed: build one for this "
                "table with WordIndex.build."
            )

    def __len__(self) -> int:
        """Number of indexed rows."""
        return len(self._graph)

    def nearest(self, query: np.ndarray, topn: int) -> np.ndarray:
        """Return the row numbers nearest to a vector, (n,) int64, ascending. The search can miss some of them.

        Args:
            query: (d,).
            topn: number of rows.
        """
        matches = self._graph.search(np.asarray(query, np.float32), min(topn, len(self)), threads=1)
        return np.sort(matches.keys.astype(np.int64))


def _new_graph(vector_size: int) -> "Index":
    try:
        from usearch.index import Index
    except ImportError:
        raise BitcipherError(f"WordIndex requires usearch: run `{install_command('search')}`.") from None
    return Index(
        ndim=vector_size,
        metric="cos",
        dtype="f16",
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )


def _is_indexed(vectors: VectorTable) -> np.ndarray:
    indexed = vectors.norms > 0
    if OOV in vectors.key_to_index:
        indexed[vectors.key_to_index[OOV]] = False
    return indexed


def _unit_rows(vectors: VectorTable, rows: np.ndarray) -> np.ndarray:
    return (np.asarray(vectors.vectors[rows]) / vectors.norms[rows, None]).astype(np.float32)
