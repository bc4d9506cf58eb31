"""gensim's methods that look up the vectors and counts of words."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.table.cosines import unit
from bitcipher.table.keys import Key, Oov, as_list, check_oov
from bitcipher.table.vector_table import VectorTable

if TYPE_CHECKING:
    from bitcipher.spelling.spelling import Spelling


class WordLookup(VectorTable):
    """The part of `CipherVectors` that looks up single words. Keys are words or row numbers, as in gensim."""

    @cached_property
    def spelling(self) -> "Spelling | None":
        """Vectors of n-grams, which give a vector to any string; None if the table has none."""
        # Loading and querying vectors of known words does not load numba.
        from bitcipher.spelling.spelling import Spelling

        return Spelling.from_arrays(self.refinement)

    def spelling_for(self, word: str) -> "Spelling":
        """Return the vectors of n-grams, which an unknown word needs.

        Raises:
            BitcipherError: if the table has none.
        """
        from bitcipher.spelling.spelling import Spelling

        return self.spelling or Spelling.require(self.refinement, word)

    def has_index_for(self, key: Any) -> bool:
        """Return whether the key is a word of the table or a row number in range."""
        return key in self

    def __getitem__(self, key_or_keys: Key | Iterable[Key]) -> np.ndarray:
        """Return float32 vectors: a read-only view, (d,), for a key; a copy, (n, d), for several keys.

        Raises:
            UnknownWordError: if a key has no row.
        """
        if isinstance(key_or_keys, Key):
            return self.get_vector(key_or_keys)
        return np.asarray(self.vectors)[self._get_rows(as_list(key_or_keys), oov=False)]

    def get_vector(self, key: Key, norm: bool = False, oov: Oov = False) -> np.ndarray:
        """Return the vector of a key, (d,) float32.

        Args:
            key: a word or a row number.
            norm: whether to scale it to length 1. A zero vector stays zero.
            oov: whether an unknown word gets the vector of `<oov>`; "spelling" for a vector of length 1 from its
                character n-grams, which is zero if the table knows none of them.

        Raises:
            UnknownWordError: if the key has no row.
            BitcipherError: if `oov` is "spelling", and the table has no n-grams.
        """
        if self._is_spelled(key, oov):
            return self.spelling_for(str(key)).predict([self.normalize_key(str(key))])[0]
        vector = np.asarray(self.vectors[self.get_index(key, oov=bool(oov))])
        return unit(vector).astype(np.float32) if norm else vector

    def get_mean_vector(
        self,
        keys: Iterable[Key | np.ndarray],
        weights: Iterable[float] | None = None,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
        oov: Oov = False,
    ) -> np.ndarray:
        """Return the weighted mean of several vectors, (d,) float32: their sum divided by the sum of |weights|.

        Args:
            keys: words, row numbers or vectors.
            weights: one weight per key, by default 1.
            pre_normalize: whether to scale the vectors of words to length 1 first. Vectors among `keys` are not
                scaled.
            post_normalize: whether to scale the mean to length 1.
            ignore_missing: whether to skip unknown keys, as gensim does. If all are unknown, the mean is zero.
            oov: whether unknown words get the vector of `<oov>`, or "spelling"; see `get_vector`.

        Raises:
            UnknownWordError: if a key has no row and `ignore_missing` is False.
        """
        keys = as_list(keys)
        if not keys:
            raise BitcipherError("A mean needs at least one word or vector.")
        weights = np.ones(len(keys)) if weights is None else np.array(as_list(weights))
        if weights.shape != (len(keys),) or weights.dtype.kind not in "fiu" or not np.isfinite(weights).all():
            raise BitcipherError(f"`weights` must hold one finite number for each of the {len(keys)} keys.")
        total, mean = 0.0, np.zeros(self.vector_size)
        for key, weight in zip(keys, weights, strict=True):
            if isinstance(key, np.ndarray):
                vector = self._check_vector(key)
            elif ignore_missing and not self._is_spelled(key, oov) and self._find_row(key, bool(oov)) is None:
                continue
            else:
                vector = self.get_vector(key, pre_normalize, oov)
            mean += weight * vector
            total += abs(weight)
        mean = mean / total if total else mean
        return (unit(mean) if post_normalize else mean).astype(np.float32)

    @cached_property
    def _attributes(self) -> dict[str, np.ndarray]:
        """Attributes that were set in memory, which this table may change."""
        return {}

    @property
    def expandos(self) -> dict[str, np.ndarray]:
        """Attributes of words by name, (N,) each: "count" and "passages" if the table has them, and those in memory."""
        columns = {"count": self.counts, "passages": self.passages, **self._attributes}
        return {name: column for name, column in columns.items() if column is not None}

    def get_vecattr(self, key: Key, attr: str, oov: bool = False) -> Any:
        """Return an attribute of a key, such as its "count" or its "passages".

        Raises:
            BitcipherError: if the table has no such attribute.
            UnknownWordError: if the key has no row.
        """
        columns = self.expandos
        if attr not in columns:
            available = ", ".join(columns) or "none"
            raise BitcipherError(f"The table has no attribute {attr!r}; available attributes: {available}.")
        value = columns[attr][self.get_index(key, oov=oov)]
        return value.item() if isinstance(value, np.generic) else value

    def _get_rows(self, keys: list[Key], oov: Oov) -> np.ndarray:
        """Return the rows of keys, (n,) int64. Keys with vectors from their spelling have none, and are left out."""
        known = (key for key in keys if not self._is_spelled(key, oov))
        return np.array([self.get_index(key, oov=bool(oov)) for key in known], np.int64)

    def _is_spelled(self, key: Key, oov: Oov) -> bool:
        """Return whether a key gets a vector from its spelling."""
        check_oov(oov)
        return oov == "spelling" and isinstance(key, str) and self._find_row(key) is None

    def _check_vector(self, vector: Any) -> np.ndarray:
        vector = np.asarray(vector)
        if vector.shape != (self.vector_size,) or vector.dtype.kind not in "fiu":
            raise BitcipherError(f"A vector for this table must be an array of {self.vector_size} numbers.")
        return vector
