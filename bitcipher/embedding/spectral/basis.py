"""`Basis`: the directions of a factorization, which later factorizations can keep.

The axes of a fresh factorization have nothing to do with those of an earlier one. With a kept basis, the vectors of
grown counts are comparable with the earlier ones: the matrix is projected onto the same directions, and only symmetric
matrix functions are applied, which do not exchange axes (as in ZCA whitening).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from threadpoolctl import threadpool_limits

from bitcipher.embedding.spectral.block_krylov import MIN_EIGENVALUE, combine, gram
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary

# Names of the stored arrays.
DIRECTIONS, SCALING, CONTEXT_BYTES, CONTEXT_ENDS = "directions", "scaling", "context_bytes", "context_ends"
ARRAYS = (DIRECTIONS, SCALING, CONTEXT_BYTES, CONTEXT_ENDS)


@dataclass(frozen=True)
class Basis:
    """Directions of a factorization, and the words that its matrix has as columns.

    Attributes:
        contexts: (C,) the context words. The first of them are the landmarks.
        directions: (landmarks, d) float32, orthonormal columns.
        scaling: (d, d) float64, which scales and damps the directions.
    """

    contexts: pa.LargeStringArray
    directions: np.ndarray
    scaling: np.ndarray

    @property
    def scaled_directions(self) -> np.ndarray:
        """Directions whose images are the raw vectors, (landmarks, d) float32."""
        return combine(self.directions, self.scaling)

    @property
    def digest(self) -> str:
        """Digest of the directions and their words, 16 hexadecimal digits."""
        digest = hashlib.sha256()
        for array in self.to_arrays().values():
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def columns(self, vocabulary: Vocabulary) -> np.ndarray:
        """Return the column of each word of a vocabulary, or -1 for other words, (N,) int32."""
        columns = pc.fill_null(pc.index_in(vocabulary.words, self.contexts), -1)
        return np.asarray(columns, np.int32)

    def share_in(self, vocabulary: Vocabulary) -> float:
        """Return the share of the directions, in squares, that belongs to words of a vocabulary, 0 to 1."""
        directions = self._known_directions(self.columns(vocabulary))
        return float(np.square(directions, dtype=np.float64).sum() / max(1, directions.shape[1]))

    def rotate(self, rotation: np.ndarray) -> "Basis":
        """Return the same directions in other axes, given an orthogonal matrix, (d, d)."""
        scaling = rotation.T @ self.scaling @ rotation
        return Basis(self.contexts, combine(self.directions, rotation), scaling)

    def directions_for(self, columns: np.ndarray) -> np.ndarray:
        """Return the directions for a vocabulary with the columns of its words, (landmarks, d) float32.

        The rows of landmarks outside the vocabulary are zeros, and the columns are orthonormal again.
        """
        directions = self._known_directions(columns)
        return combine(directions, symmetric_power(gram(directions, directions), -0.5))

    def _known_directions(self, columns: np.ndarray) -> np.ndarray:
        """Return the directions, with zeros in the rows of landmarks that no word of `columns` is."""
        is_known = np.isin(np.arange(len(self.directions)), columns)
        return np.where(is_known[:, None], self.directions, np.float32(0))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return arrays to store, which `from_arrays` reads. The contexts are their bytes and ends."""
        texts = [word.encode() for word in self.contexts.to_pylist()]
        return {
            DIRECTIONS: self.directions,
            SCALING: self.scaling,
            CONTEXT_BYTES: np.frombuffer(b"".join(texts), np.uint8),
            CONTEXT_ENDS: np.cumsum([len(text) for text in texts], dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "Basis":
        """Return the basis of stored arrays.

        Raises:
            BitcipherError: if the arrays do not match.
        """
        directions, scaling, content, ends = (arrays[name] for name in ARRAYS)
        try:
            words = _split_texts(content, ends)
        except (TypeError, ValueError):  # UnicodeDecodeError is a ValueError
            words = []
        floats = (np.float32, np.float64)
        is_whole = (directions.dtype, scaling.dtype) == floats and directions.ndim == scaling.ndim == 2
        if not is_whole or len(directions) > len(words) or scaling.shape != (directions.shape[1],) * 2:
            raise BitcipherError("The basis of the vectors is damaged: make them again with `bitcipher embed`.")
        return cls(pa.array(words, pa.large_string()), directions, scaling)


def _split_texts(content: np.ndarray, ends: np.ndarray) -> list[str]:
    """Return texts from their bytes, one after the other, and the end of each.

    Raises:
        TypeError: if the arrays do not hold bytes and integers.
        ValueError: if the ends do not match, or the bytes are not UTF-8.
    """
    bounds = [0, *ends.tolist()]
    if content.dtype != np.uint8 or bounds != sorted(bounds) or bounds[-1] != len(content):
        raise ValueError("The ends are not those of the texts.")
    data = content.tobytes()
    return [data[start:end].decode() for start, end in pairwise(bounds)]


@threadpool_limits.wrap(limits=1)
def symmetric_power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    """Return the power of a symmetric matrix with non-negative eigenvalues, (d, d) float64."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    values = np.maximum(values, MIN_EIGENVALUE * values.max(initial=0))
    return (vectors * values**exponent) @ vectors.T


def find_rotation(table: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the rotation of a table that is closest to a target, (d, d) float64 (orthogonal Procrustes).

    Args:
        table: (n, d) float32.
        target: (n, d) float32.
        weights: (n,) weight of each row.
    """
    return closest_rotation(gram(table * weights[:, None].astype(np.float32), target))


@threadpool_limits.wrap(limits=1)
def closest_rotation(products: np.ndarray) -> np.ndarray:
    """Return the rotation of a table that is closest to a target, (d, d) float64.

    Args:
        products: (d, d) float64, tableᵀ · weights · target.
    """
    left, _, right = np.linalg.svd(products)
    return left @ right
