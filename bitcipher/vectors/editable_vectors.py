"""gensim's methods that add words, and attributes of words.

The array that a table was made from, and the files that it maps, never change: a method that changes vectors makes a
copy of the table first.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa

from bitcipher.errors import BitcipherError
from bitcipher.table.keys import Key, as_list
from bitcipher.table.vector_table import VectorTable
from bitcipher.vectors.lookup import WordLookup

# Attributes that are columns of the table, and are saved with it.
COLUMNS = ("count", "passages")


class EditableVectors(WordLookup):
    """The part of `CipherVectors` that changes a table in memory."""

    def add_vector(self, key: str, vector: np.ndarray) -> int:
        """Add a word with its vector, (d,), and return its row. An existing word keeps its vector.

        Each call copies the table, so add many words at once with `add_vectors`.
        """
        self.add_vectors([key], [vector])
        return self.key_to_index[key]

    def add_vectors(
        self,
        keys: Iterable[str],
        weights: Any,
        extras: Mapping[str, np.ndarray] | None = None,
        replace: bool = False,
    ) -> None:
        """Add words with their vectors at the end of the table. Their attributes are 0 unless they are given.

        The vectors are no longer those of the build, so they can be neither explained nor inferred.

        Args:
            keys: n words.
            weights: (n, d) vectors.
            extras: (n,) values of each attribute.
            replace: whether words that exist get the new vectors and attributes; by default they keep the old ones.

        Raises:
            BitcipherError: if the sizes do not agree, a word is repeated or not a string, or a value is not finite.
        """
        words = as_list(keys)
        rows = np.atleast_2d(np.asarray(weights, np.float32)) if words else np.empty((0, self.vector_size), np.float32)
        self._check_added(words, rows)
        values = {name: _check_values(name, column, len(words)) for name, column in (extras or {}).items()}
        is_new = np.array([word not in self.key_to_index for word in words], bool)
        table = np.concatenate([self.vectors, rows[is_new]])
        columns = {name: _extend(column, len(table)) for name, column in self.expandos.items()}
        added = pa.array([word for word, new in zip(words, is_new, strict=True) if new], pa.large_string())
        self.words = pa.concat_arrays([self.words, added])
        self._forget_derived()
        is_set = is_new | replace
        targets = [self.key_to_index[word] for word, chosen in zip(words, is_set, strict=True) if chosen]
        table[targets] = rows[is_set]
        table.flags.writeable = False
        self.vectors = table
        for name, column in values.items():
            columns.setdefault(name, np.zeros(len(table), column.dtype))[targets] = column[is_set]
        for name, column in columns.items():
            self._set_attribute(name, column)

    def set_vecattr(self, key: Key, attr: str, val: Any) -> None:
        """Set an attribute of a word. The attributes "count" and "passages" are saved, others stay in memory.

        A new attribute is 0 for all other words, as in gensim. Vectors with other counts than those of the build can
        be neither explained nor inferred, because the share of the spelling depends on the counts.

        Raises:
            BitcipherError: if the value has another type than the attribute.
            UnknownWordError: if the key has no row.
        """
        row, dtype = self.get_index(key), _dtype(val)
        column = self._own_attribute(attr, dtype)
        if not np.can_cast(dtype, column.dtype, "same_kind") or (attr in COLUMNS and val < 0):
            limit = ", at least 0" if attr in COLUMNS else ""
            raise BitcipherError(f"The attribute {attr!r} holds {column.dtype}{limit}, got {val!r}.")
        column[row] = val

    def vectors_for_all(self, keys: Iterable[str], allow_inference: bool = True, copy_vecattrs: bool = False) -> Self:
        """Return a table of some words, each once, in the given order. Words without a vector are left out.

        Args:
            keys: the words.
            allow_inference: whether unknown words get a vector from their spelling, if the table has n-grams.
            copy_vecattrs: whether the words keep their attributes, which are 0 for words with an inferred vector.

        Raises:
            BitcipherError: if no word has a vector.
        """
        words = list(dict.fromkeys(as_list(keys)))
        found = [word for word in words if word in self.key_to_index]
        rows = dict(zip(found, self[found], strict=True))
        unknown = [word for word in words if isinstance(word, str) and word not in self.key_to_index]
        if allow_inference and self.spelling and unknown:
            rows |= {word: row for word, row in zip(unknown, self.spelling.predict(unknown), strict=True) if row.any()}
        kept = [word for word in words if word in rows]
        if not kept:
            raise BitcipherError("None of the words has a vector: check their spelling, and lower case.")
        table = type(self)(kept, np.stack([rows[word] for word in kept]), refinement=self.refinement)
        is_known = np.array([word in self.key_to_index for word in kept])
        for name, column in self.expandos.items() if copy_vecattrs else ():
            values = np.zeros(len(kept), column.dtype)
            values[is_known] = column[self._get_rows([word for word in kept if word in self.key_to_index], False)]
            table._set_attribute(name, values)
        return table

    def fill_norms(self, force: bool = False) -> None:
        """Compute the lengths of all vectors, the attribute `norms`, if they are missing.

        Args:
            force: whether to compute them again.
        """
        if force:
            self._forget(VectorTable.norms)
        self.norms  # noqa: B018 - computed at first use, and cached

    def get_normed_vectors(self) -> np.ndarray:
        """Return all vectors scaled to length 1, (N, d) float32. Zero vectors stay zero."""
        return (self.vectors / np.where(self.norms > 0, self.norms, 1)[:, None]).astype(np.float32)

    def _check_added(self, words: list[Any], rows: np.ndarray) -> None:
        wrong = next((word for word in words if not isinstance(word, str)), None)
        if wrong is not None:
            raise BitcipherError(f"A word must be a string, got {wrong!r}.")
        if len(set(words)) < len(words):
            raise BitcipherError("A word is repeated among the added words: give each once.")
        if rows.shape != (len(words), self.vector_size):
            raise BitcipherError(
                f"The added vectors must have the shape {(len(words), self.vector_size)}, got {rows.shape}."
            )
        if not np.isfinite(rows).all():
            raise BitcipherError("The added vectors hold a value that is not finite.")

    def _own_attribute(self, name: str, dtype: Any) -> np.ndarray:
        """Return the array of an attribute that this table may change: a copy of the former one, or a new one."""
        if name not in self._attributes:
            former = self.expandos.get(name)
            self._set_attribute(name, np.zeros(len(self), dtype) if former is None else former.copy())
        return self._attributes[name]

    def _set_attribute(self, name: str, column: np.ndarray) -> None:
        if name in COLUMNS:
            column = column.astype(np.int64)
            if name == "count":
                self.counts = column
            else:
                self.passages = column
            self._forget_counts()
        self._attributes[name] = column

    def _forget_derived(self) -> None:
        """Drop what was computed from the former rows, and the provenance."""
        self._forget(VectorTable.index_to_key, VectorTable.key_to_index, VectorTable.norms, VectorTable.digest)
        self._forget_counts()

    def _forget_counts(self) -> None:
        """Drop what was computed from the former counts, and the provenance.

        The provenance is no longer that of all vectors, or of the counts that set shares of spelling.
        """
        self.manifest = {name: value for name, value in self.manifest.items() if name != "embedding"}


def _dtype(value: Any) -> Any:
    """Return the type of the array of an attribute: numbers as they are, text and other objects as objects."""
    dtype = np.asarray(value).dtype
    return dtype if np.isscalar(value) and dtype.kind in "biuf" else np.dtype(object)


def _check_values(name: str, values: Any, words: int) -> np.ndarray:
    column = np.asarray(values)
    if column.shape != (words,) or (name in COLUMNS and column.dtype.kind not in "iu"):
        kind = "integer" if name in COLUMNS else "value"
        raise BitcipherError(f"The attribute {name!r} must have one {kind} for each of the {words:,} words.")
    return column if column.dtype.kind in "biuf" else column.astype(object)


def _extend(column: np.ndarray, size: int) -> np.ndarray:
    extended = np.zeros(size, column.dtype)
    extended[: len(column)] = column
    return extended
