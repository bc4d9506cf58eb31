"""`ContextVectors`: the vectors of the context words of mode spectral, and the numbers of pairs that weight them.

Questions about a word of mode spectral need them for all context words, whatever the word is, so they are stored with
the vectors, in one file:

    contexts.safetensors    block.J.values, (C, d) int16, and block.J.scales, (C,) float32, for each block j in use;
                            transform, (d, d) float64; marginals, (blocks, N) int64; all_shares, (blocks,) float64
"""

from collections.abc import Iterator, Mapping
from functools import reduce

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.spectral.basis import Basis
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.ppmi import Marginals
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding, Spectrum
from bitcipher.files import storage
from bitcipher.kernel_cache import kernel
from bitcipher.rows.spectral_rows import SpectralRows
from bitcipher.rows.symmetric_counts import stream_marginals
from bitcipher.table.manifest import TableManifest
from bitcipher.table.safetensors_file import LocatedTensor, iter_tensors, locate_tensors
from bitcipher.table.vector_files import check_sha256
from bitcipher.table.vector_folder import CONTEXTS


class ContextVectors:
    """Vectors of which the raw rows of a table are sums: the row of w is (Σⱼ Σ_c Mⱼ[w, c] · Cⱼ[c]) · transform.

    Mⱼ is a block of the weighted matrix (see `bitcipher.embedding.spectral.ppmi`) and c a context word.

    Args:
        tables: Cⱼ for each block j in use, (C, d): one row per context word, in the order of the columns of Mⱼ.
        transform: (d, d) float64.
        marginals: number of pairs of each word, by which the counts are weighted.
        sha256: SHA-256 of the file that they were read from, or None.

    Attributes:
        marginals, sha256: the arguments of the same names.
    """

    def __init__(
        self,
        tables: Mapping[int, Operand],
        transform: np.ndarray,
        marginals: Marginals,
        sha256: str | None = None,
    ):
        self.marginals = marginals
        self.sha256 = sha256
        self._tables = tables
        self._transform = transform

    @classmethod
    def of_spectrum(cls, spectrum: Spectrum) -> "ContextVectors":
        """Return the context vectors of a factorization, which are those that its vectors were made of."""
        return cls(spectrum.contexts, reduce(np.matmul, spectrum.rows.factors).astype(np.float64), spectrum.marginals)

    @classmethod
    def from_counts(
        cls, counts: MergedCounts, window: int, basis: Basis, embedding: SpectralEmbedding
    ) -> "ContextVectors":
        """Compute context vectors from all counts, for vectors that were stored without them.

        Args:
            counts: counts of a corpus.
            window: the largest offset of a context word.
            basis: basis of the vectors.
            embedding: the embedding that made the vectors.
        """
        marginals, columns = stream_marginals(counts, window), basis.columns(counts.vocabulary)
        rows = SpectralRows.of_words(counts, window, columns, marginals, columns >= 0).rows
        directions = Operand.exact(basis.scaled_directions)
        contexts, vector_size = int(columns.max(initial=-1)) + 1, directions.values.shape[1]
        tables: dict[int, Operand] = {}
        for block, scale in enumerate(embedding.scales(len(marginals.sums))):
            if scale:
                table = np.zeros((contexts, vector_size), np.float32)
                rows.add_transposed(block, scale, directions, rows.targets(contexts), table)
                tables[block] = Operand.exact(table)
        return cls(tables, np.eye(vector_size), marginals)

    @classmethod
    def read(cls, folder: str) -> "ContextVectors | None":
        """Open the context vectors in a folder of vectors. They are read when they are used.

        Returns:
            None if the folder has none, as those of other modes, of `save`, and of earlier versions.

        Raises:
            BitcipherError: if the folder or the file is damaged.
        """
        entry = TableManifest.read(folder).files.get(CONTEXTS)
        if entry is None:
            return None
        uri = storage.join(folder, CONTEXTS)
        check_sha256(uri, entry)
        with storage.reading(uri) as stream:
            tensors = locate_tensors(stream)
            names = ("transform", "marginals", "all_shares")
            transform, *marginals = (tensors[name].read(stream) for name in names)
        return cls(_StoredTables(uri, tensors), transform, Marginals(*marginals), entry.sha256)

    def to_bytes(self) -> Iterator[bytes]:
        """Yield the content of the file."""
        tensors = {"transform": self._transform, "marginals": self.marginals.sums}
        tensors["all_shares"] = self.marginals.all_shares
        for block, table in self._tables.items():
            tensors |= {f"block.{block}.values": table.values, f"block.{block}.scales": table.scales}
        return iter_tensors(tensors)

    @property
    def vector_size(self) -> int:
        """Number of dimensions."""
        return self._transform.shape[1]

    @property
    def blocks(self) -> list[int]:
        """The blocks in use."""
        return sorted(self._tables)

    def products(self, block: int, columns: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return the products of the vectors of some context words in a block with directions, (n, m) float64.

        Args:
            block: the block, one of those in use.
            columns: (n,) int32, columns of the context words.
            directions: (m, d) float64, directions as `transform` returns them.
        """
        values, scales = self._tables[block]
        return _multiply(values, scales, columns, directions)

    def table(self, block: int) -> Operand:
        """Return Cⱼ for the block j."""
        return self._tables[block]

    @threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
    def transform(self, directions: np.ndarray) -> np.ndarray:
        """Return the vectors whose products with rows of `table` are those of context vectors and directions.

        Args:
            directions: (n, d) floats, one per row.

        Returns:
            (n, d) float64.
        """
        return directions @ self._transform.T

    @threadpool_limits.wrap(limits=1)
    def combine(self, block: int, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weighted sum of the vectors of some context words in a block, (d,) float64."""
        values, scales = self._tables[block]
        return ((weights * scales[columns]) @ values[columns].astype(np.float64)) @ self._transform


@kernel(fastmath=True)
def _multiply(values, scales, rows, directions):
    """Return the products of some rows, whose values have a scale, with directions, (n, m) float64."""
    result = np.empty((len(rows), len(directions)))
    for index in range(len(rows)):
        row = rows[index]
        for column in range(len(directions)):
            product = 0.0
            for i in range(values.shape[1]):
                product += values[row, i] * directions[column, i]
            result[index, column] = product * scales[row]
    return result


class _StoredTables(Mapping[int, Operand]):
    """The tables in a file. A table is mapped or, from an object store, read whenever it is used."""

    def __init__(self, uri: str, tensors: Mapping[str, LocatedTensor]):
        self._uri = uri
        self._path = storage.local_path(uri)
        self._tensors = tensors
        self._blocks = [int(name.split(".")[1]) for name in tensors if name.endswith(".values")]

    def __getitem__(self, block: int) -> Operand:
        return Operand(*(self._open(self._tensors[f"block.{block}.{field}"]) for field in Operand._fields))

    def _open(self, tensor: LocatedTensor) -> np.ndarray:
        mapped = None if self._path is None else tensor.map(self._path)
        if mapped is not None:
            return mapped
        with storage.reading(self._uri) as stream:
            return tensor.read(stream)

    def __iter__(self) -> Iterator[int]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)
