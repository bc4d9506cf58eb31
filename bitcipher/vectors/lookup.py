"""Looking up what belongs to a word: its row, its vector, its counts."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cosines import unit
from bitcipher.vectors.lookup_errors import Key, as_list, unknown_key
from bitcipher.vocabulary import OOV

# Rows whose lengths are taken at once: their squares are float64, 13 MB at 200 dimensions.
NORM_ROWS = 1 << 13


class WordLookup:
    """What `CipherVectors` tells of single words. Keys are words or row numbers, as in gensim."""

    def __init__(
        self,
        words: Iterable[str] | pa.LargeStringArray,
        vectors: np.ndarray,
        counts: np.ndarray | None = None,
        passages: np.ndarray | None = None,
        refinement: dict[str, np.ndarray] | None = None,
        manifest: dict[str, Any] | None = None,
    ):
        """Keep the parts, if they agree with each other; `CipherVectors` says what they are."""
        self.words = _as_words(words)
        self.vectors = _as_table(vectors, len(self.words))
        self.counts = _as_counts("counts", counts, len(self.words))
        self.passages = _as_counts("passages", passages, len(self.words))
        self.refinement = _as_refinement(refinement)
        self.manifest = dict(manifest or {})

    @property
    def vector_size(self) -> int:
        """Dimensions of a vector."""
        return self.vectors.shape[1]

    @cached_property
    def index_to_key(self) -> list[str]:
        """The words in order of rank."""
        return self.words.to_pylist()

    @cached_property
    def key_to_index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.index_to_key)}

    @cached_property
    def norms(self) -> np.ndarray:
        """The lengths of all vectors, (N,) float64; made when first needed.

        Raises:
            BitcipherError: if a vector holds a value that is not a number.
        """
        norms = np.empty(len(self))
        for start in range(0, len(self), NORM_ROWS):
            rows = np.asarray(self.vectors[start : start + NORM_ROWS], np.float64)
            norms[start : start + NORM_ROWS] = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        # Below float32's limit no partial sum of a product with a vector of length 1 can overflow.
        bad = np.flatnonzero(~(norms < np.finfo(np.float32).max))
        if len(bad):
            raise BitcipherError(
                f"The vector of {self.words[int(bad[0])].as_py()!r} (row {bad[0]}) holds a value that is not "
                "a number or is too large: the table is damaged, fetch or build it again."
            )
        return norms

    def __len__(self) -> int:
        """Words in the table, `<oov>` included."""
        return len(self.words)

    def __repr__(self) -> str:
        """The size of the table."""
        return f"{type(self).__name__}({len(self):,} words, {self.vector_size} dimensions)"

    def __contains__(self, key: Any) -> bool:
        """Whether the key has a row of its own."""
        return self._row(key) is not None

    def has_index_for(self, key: Any) -> bool:
        """Whether the key has a row of its own."""
        return key in self

    def __getitem__(self, key_or_keys: Key | Iterable[Key]) -> np.ndarray:
        """The vector of a key, (d,) and read-only, or of several keys, (n, d), float32.

        Raises:
            UnknownWordError: if a key has no row.
        """
        if isinstance(key_or_keys, Key):
            return self.get_vector(key_or_keys)
        return np.asarray(self.vectors)[self._rows(as_list(key_or_keys), oov=False)]

    def get_index(self, key: Key, default: int | None = None, oov: bool = False) -> int:
        """The row of a key.

        Args:
            key: a word or a row number.
            default: what an unknown key gets instead of an error.
            oov: whether an unknown word gets the row of `<oov>`.

        Raises:
            UnknownWordError: if the key has no row and neither `default` nor `oov` says what then.
        """
        row = self._row(key, oov)
        if row is None:
            row = default
        if row is None:
            raise unknown_key(key, self.index_to_key, self.key_to_index)
        return row

    def get_vector(self, key: Key, norm: bool = False, oov: bool = False) -> np.ndarray:
        """The vector of a key, (d,) float32.

        Args:
            key: a word or a row number.
            norm: whether to scale it to length 1; a zero vector stays zero.
            oov: whether an unknown word gets the vector of `<oov>`.

        Raises:
            UnknownWordError: if the key has no row.
        """
        vector = np.asarray(self.vectors[self.get_index(key, oov=oov)])
        return unit(vector).astype(np.float32) if norm else vector

    def get_mean_vector(
        self,
        keys: Iterable[Key | np.ndarray],
        weights: Iterable[float] | None = None,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
        oov: bool = False,
    ) -> np.ndarray:
        """The weighted mean of the vectors of several keys, (d,) float32: their sum by the sum of |weights|.

        Args:
            keys: words, row numbers or vectors.
            weights: one for each key; 1 by default.
            pre_normalize: whether to scale the words' vectors to length 1 first; vectors stay as given.
            post_normalize: whether to scale the mean to length 1.
            ignore_missing: whether to leave out unknown keys, as gensim does; if all are, the mean is zero.
            oov: whether unknown words count with the vector of `<oov>`.

        Raises:
            UnknownWordError: if a key has no row and is not to be ignored.
        """
        keys = as_list(keys)
        if not keys:
            raise BitcipherError("A mean needs at least one word or vector.")
        weights = np.ones(len(keys)) if weights is None else np.array(as_list(weights))
        if weights.shape != (len(keys),) or weights.dtype.kind not in "fiu" or not np.isfinite(weights).all():
            raise BitcipherError(f"A mean of {len(keys)} keys needs as many weights, all finite numbers.")
        total, mean = 0.0, np.zeros(self.vector_size)
        for key, weight in zip(keys, weights, strict=True):
            if isinstance(key, np.ndarray):
                vector = self._as_vector(key)
            elif ignore_missing and self._row(key, oov) is None:
                continue
            else:
                vector = self.get_vector(key, pre_normalize, oov)
            mean += weight * vector
            total += abs(weight)
        mean = mean / total if total else mean
        return (unit(mean) if post_normalize else mean).astype(np.float32)

    def get_vecattr(self, key: Key, attr: str, oov: bool = False) -> int:
        """A number kept beside the vector of a key: its "count" or its "passages".

        Raises:
            BitcipherError: if the table keeps no such numbers.
            UnknownWordError: if the key has no row.
        """
        kept = {"count": self.counts, "passages": self.passages}
        kept = {name: column for name, column in kept.items() if column is not None}
        if attr not in kept:
            raise BitcipherError(f"The table keeps no {attr!r}; it keeps: {', '.join(kept) or 'vectors only'}.")
        return int(kept[attr][self.get_index(key, oov=oov)])

    def _row(self, key: Any, oov: bool = False) -> int | None:
        if isinstance(key, str):
            row = self.key_to_index.get(key)
            return self._oov_row() if row is None and oov else row
        if isinstance(key, Key) and 0 <= key < len(self):
            return int(key)
        return None

    def _rows(self, keys: list[Key], oov: bool) -> np.ndarray:
        return np.array([self.get_index(key, oov=oov) for key in keys], np.int64)

    def _oov_row(self) -> int:
        if OOV not in self.key_to_index:
            raise BitcipherError(f"The table has no {OOV}, so it has no vector for unknown words.")
        return self.key_to_index[OOV]

    def _as_vector(self, vector: Any) -> np.ndarray:
        vector = np.asarray(vector)
        if vector.shape != (self.vector_size,) or vector.dtype.kind not in "fiu":
            raise BitcipherError(f"A vector for this table is an array of {self.vector_size} numbers.")
        return vector


def _as_words(words: Iterable[str] | pa.LargeStringArray) -> pa.LargeStringArray:
    try:
        words = pa.array(words, pa.large_string())
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise BitcipherError(f"The words must be a list of text: {error}.") from None
    if not len(words) or words.null_count:
        raise BitcipherError("The words must be at least one, and none of them missing.")
    distinct = pc.count_distinct(words).as_py()
    if distinct != len(words):
        raise BitcipherError(f"The {len(words):,} words are only {distinct:,} different ones: give each once.")
    return words


def _as_table(vectors: np.ndarray, words: int) -> np.ndarray:
    try:
        vectors = np.asanyarray(vectors, np.float32)  # a memory map stays one
    except (TypeError, ValueError):
        raise BitcipherError("The vectors must be an array of numbers, a row for each word.") from None
    if vectors.ndim != 2 or len(vectors) != words or not vectors.shape[1]:
        raise BitcipherError(f"{words:,} words need as many rows of vectors, not the shape {vectors.shape}.")
    # The lengths are kept once made, so the rows must not change under them.
    vectors = vectors.view()
    vectors.flags.writeable = False
    return vectors


def _as_counts(name: str, counts: np.ndarray | None, words: int) -> np.ndarray | None:
    if counts is None:
        return None
    counts = np.asarray(counts)
    if counts.shape != (words,) or counts.dtype.kind not in "iu":
        raise BitcipherError(f"{words:,} words need as many whole numbers of {name}.")
    return counts.astype(np.int64, copy=False)


def _as_refinement(refinement: dict[str, np.ndarray] | None) -> dict[str, np.ndarray] | None:
    if not refinement:
        return None
    arrays = {name: np.asarray(array, order="C") for name, array in refinement.items()}
    for name, array in arrays.items():
        if array.dtype not in (np.float32, np.float64):
            raise BitcipherError(f"The refinement's {name!r} must be float32 or float64, not {array.dtype}.")
    return arrays
