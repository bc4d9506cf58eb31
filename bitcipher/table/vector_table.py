"""`VectorTable`: words, their vectors, and how the vectors were made."""

import hashlib
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.errors import BitcipherError
from bitcipher.normalization import normalize
from bitcipher.table.cosines import NORM_BYTES, row_norms
from bitcipher.table.keys import Key, unknown_key
from bitcipher.table.repeated_words import may_repeat
from bitcipher.vocabulary import OOV

# Kinds of NumPy's types of real numbers: integers and floating-point numbers.
_REAL = "iuf"

# Maximum rows per block when norms and digests are computed.
NORM_ROWS = 1 << 13


class VectorTable:
    """Words in order of rank, with their vectors, counts and provenance.

    This is the base class of `CipherVectors`, which adds gensim's methods, and the class that `bitcipher.formats` and
    `bitcipher.evaluation` work with.

    Args:
        words: (N,) unique words in order of rank. `<oov>` is among them if the table has that entry.
        vectors: (N, d) float32, possibly a memory map. The array is not copied, and is read-only through this class.
        counts: (N,) int64, occurrences of each word.
        passages: (N,) int64, passages that contain each word.
        refinement: arrays that map the contexts of new words to vectors, such as the mean and matrix of a whitening.
        manifest: provenance of the vectors, as values that JSON can hold.

    Raises:
        BitcipherError: if words are missing or repeated, the sizes do not agree, or a value is not finite.
    """

    def __init__(
        self,
        words: Iterable[str] | pa.LargeStringArray,
        vectors: np.ndarray,
        counts: np.ndarray | None = None,
        passages: np.ndarray | None = None,
        refinement: dict[str, np.ndarray] | None = None,
        manifest: dict[str, Any] | None = None,
    ):
        self._set_fields(words, vectors, counts, passages, refinement, manifest)
        self.norms  # noqa: B018 - refuses values that are not finite

    def _set_fields(
        self,
        words: Iterable[str] | pa.LargeStringArray,
        vectors: np.ndarray,
        counts: np.ndarray | None,
        passages: np.ndarray | None,
        refinement: dict[str, np.ndarray] | None,
        manifest: dict[str, Any] | None,
    ) -> None:
        self.words = _check_words(words)
        self.vectors = _check_vectors(vectors, len(self.words))
        self.counts = _check_counts("counts", counts, len(self.words))
        self.passages = _check_counts("passages", passages, len(self.words))
        self.refinement = _check_refinement(refinement)
        self.manifest = dict(manifest or {})

    @classmethod
    def from_mapped(
        cls,
        words: pa.LargeStringArray,
        vectors: np.ndarray,
        counts: np.ndarray | None,
        passages: np.ndarray | None,
        refinement: dict[str, np.ndarray] | None,
        manifest: dict[str, Any],
        norms: np.ndarray | None = None,
    ) -> Self:
        """Return a table of memory-mapped vectors, which are not read.

        Their values are checked with their lengths `norms`, (N,) float64, by default when these are first used.
        """
        result = cls.__new__(cls)
        result._set_fields(words, vectors, counts, passages, refinement, manifest)
        if norms is not None:
            result.__dict__["norms"] = result._check_norms(norms)
        return result

    @classmethod
    def from_table(cls, table: "VectorTable") -> Self:
        """Return the content of another table in this class, without copying or checking it again."""
        result = cls.__new__(cls)
        result.__dict__.update(vars(table))
        return result

    def _forget(self, *properties: Any) -> None:
        """Compute cached properties again when they are next used."""
        for each in properties:
            self.__dict__.pop(each.attrname, None)

    @property
    def vector_size(self) -> int:
        """Number of dimensions."""
        return self.vectors.shape[1]

    @cached_property
    def index_to_key(self) -> list[str]:
        """Words in order of rank."""
        return self.words.to_pylist()

    @cached_property
    def key_to_index(self) -> dict[str, int]:
        """Row of each word."""
        return {word: row for row, word in enumerate(self.index_to_key)}

    @cached_property
    def norms(self) -> np.ndarray:
        """Lengths of all vectors, (N,) float64. Those of memory-mapped vectors are computed at first use.

        Raises:
            BitcipherError: if a vector holds a value that is not finite.
        """
        norms = np.empty(len(self))
        block = max(1, min(NORM_ROWS, NORM_BYTES // (8 * self.vector_size)))
        for start in range(0, len(self), block):
            norms[start : start + block] = row_norms(self.vectors[start : start + block])
        return self._check_norms(norms)

    def _check_norms(self, norms: np.ndarray) -> np.ndarray:
        # If a row is shorter than the maximum of float32, its product with a vector of length 1 cannot overflow.
        bad = np.flatnonzero(~(norms < np.finfo(np.float32).max))
        if len(bad):
            raise BitcipherError(
                f"The vector of {self.words[int(bad[0])].as_py()!r} (row {bad[0]}) holds a value that is not finite or "
                "is too large: correct the value, or fetch or build the table again."
            )
        return norms

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the words and vectors, by which an index recognizes its table. It is computed at first use."""
        digest = hashlib.sha256(orjson.dumps([self.index_to_key, self.vector_size]))
        for start in range(0, len(self), NORM_ROWS):
            digest.update(np.ascontiguousarray(self.vectors[start : start + NORM_ROWS], "<f4").data)
        return digest.hexdigest()

    @property
    def is_normalized(self) -> bool:
        """Whether the words are those of normalized text (see `bitcipher.normalization`), as the manifest records."""
        options = self.manifest.get("options")
        if not isinstance(options, dict) or options.get("normalization") != "NFC":
            return False
        return not str(options.get("tokenizer")).endswith(".json")  # which has a normalizer of its own

    def normalize_key(self, word: str) -> str:
        """Return the form in which the table has a word, if it has the word."""
        return normalize(word) if self.is_normalized else word

    def __len__(self) -> int:
        """Number of words, including `<oov>`."""
        return len(self.words)

    def __repr__(self) -> str:
        """Class name, number of words and number of dimensions."""
        return f"{type(self).__name__}({len(self):,} words, {self.vector_size} dimensions)"

    def __contains__(self, key: Any) -> bool:
        """Whether the key is a word of the table or a row number in range."""
        return self._find_row(key) is not None

    def get_index(self, key: Key, default: int | None = None, oov: bool = False) -> int:
        """Return the row of a key.

        Args:
            key: a word or a row number.
            default: the result for a key without a row.
            oov: whether an unknown word gets the row of `<oov>`.

        Raises:
            UnknownWordError: if the key has no row, and neither `default` nor `oov` is given.
        """
        row = self._find_row(key, oov)
        if row is None:
            row = default
        if row is None:
            raise unknown_key(key, self.index_to_key, self.key_to_index)
        return row

    def _find_row(self, key: Any, oov: bool = False) -> int | None:
        if isinstance(key, str):
            row = self.key_to_index.get(key)
            if row is None and not key.isascii():
                row = self.key_to_index.get(self.normalize_key(key))
            return self._oov_row() if row is None and oov else row
        if isinstance(key, int | np.integer) and 0 <= key < len(self):
            return int(key)
        return None

    def _oov_row(self) -> int:
        if OOV not in self.key_to_index:
            raise BitcipherError(f"The table has no {OOV}, so it has no vector for unknown words.")
        return self.key_to_index[OOV]


def _check_words(words: Iterable[str] | pa.LargeStringArray) -> pa.LargeStringArray:
    try:
        array = pa.array(words, pa.large_string())
        array.validate(full=True)  # that of a Parquet file can hold bytes that are not UTF-8
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise BitcipherError(f"The words must be a list of strings: {error}.") from None
    if not len(array) or array.null_count:
        raise BitcipherError("A table needs at least one word, and no word may be missing.")
    if may_repeat(array) and (distinct := pc.count_distinct(array).as_py()) != len(array):
        raise BitcipherError(f"Only {distinct:,} of the {len(array):,} words are distinct: pass each word once.")
    return array


def _check_vectors(vectors: np.ndarray, words: int) -> np.ndarray:
    try:
        vectors = np.asanyarray(vectors)  # which preserves a memory map
    except (TypeError, ValueError):
        raise BitcipherError("The vectors must be a numeric array with one row per word.") from None
    if vectors.dtype.kind not in _REAL:
        raise BitcipherError(
            f"The vectors must be a numeric array with one row per word, of real numbers, got the type {vectors.dtype}."
        )
    with np.errstate(over="ignore", invalid="ignore"):  # values above those of float32, which `norms` refuses
        vectors = vectors.astype(np.float32, copy=False)
    if vectors.ndim != 2 or len(vectors) != words or not vectors.shape[1]:
        raise BitcipherError(
            f"The vectors must have one row for each of the {words:,} words, got the shape {vectors.shape}."
        )
    # `norms` are cached, so the rows must not change.
    vectors = vectors.view()
    vectors.flags.writeable = False
    return vectors


def _check_counts(name: str, counts: np.ndarray | None, words: int) -> np.ndarray | None:
    if counts is None:
        return None
    counts = np.asarray(counts)
    if counts.shape != (words,) or counts.dtype.kind not in "iu":
        raise BitcipherError(f"`{name}` must hold one integer for each of the {words:,} words.")
    counts = counts.astype(np.int64, copy=False)
    bad = np.flatnonzero(counts < 0)  # also an unsigned integer above those of int64
    if len(bad):
        raise BitcipherError(
            f"`{name}` must hold integers from 0 to 2**63 - 1, but row {bad[0]:,} has another: correct it, or fetch or "
            "build the table again."
        )
    return counts


def _check_refinement(refinement: dict[str, np.ndarray] | None) -> dict[str, np.ndarray] | None:
    if not refinement:
        return None
    arrays = {name: np.asarray(array, order="C") for name, array in refinement.items()}
    for name, array in arrays.items():
        if array.dtype not in (np.float16, np.float32, np.float64, np.int64, np.uint8):
            raise BitcipherError(
                f"The refinement array {name!r} must be float16, float32, float64, int64 or uint8, got {array.dtype}."
            )
        if not np.isfinite(array).all():
            raise BitcipherError(f"The refinement array {name!r} holds a value that is not finite: make it again.")
    return arrays
