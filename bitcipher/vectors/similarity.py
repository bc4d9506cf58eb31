"""gensim's methods that compare words by the cosine of their vectors.

They differ from gensim's in four ways. `<oov>` and words with a zero vector are never returned as neighbors. The
similarity of a zero vector to any vector is 0. An unknown word is an error in every method, even where gensim skips the
word, unless `oov=True` gives it the vector of `<oov>`, or `oov="spelling"` one from its n-grams. Ties are broken by
rank: the more frequent word comes first.
"""

from collections.abc import Iterable
from numbers import Integral
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.table.cosines import cosines, top_indices, unit
from bitcipher.table.keys import Key, Oov, as_list
from bitcipher.table.vector_table import VectorTable
from bitcipher.vectors.lookup import WordLookup
from bitcipher.vocabulary import OOV

Neighbors = list[tuple[str, float]]

# Added to the denominator of 3CosMul against division by zero, as in gensim.
COSMUL_EPSILON = 1e-6


class NeighborIndex(Protocol):
    """A search for the rows of a table that are nearest to a vector, such as `WordIndex` of `ann_index`."""

    def nearest(self, query: np.ndarray, topn: int) -> np.ndarray:
        """Return row numbers, (n,) int64, ascending. They contain the nearest rows unless the search misses some.

        Args:
            query: (d,) float32, of length 1.
            topn: number of nearest rows that are needed.
        """
        ...


@runtime_checkable
class TableIndex(NeighborIndex, Protocol):
    """An index that knows its table."""

    def check_table(self, vectors: VectorTable) -> None:
        """Check that this is the index of a table.

        Raises:
            BitcipherError: if it is the index of another table.
        """
        ...


class WordSimilarity(WordLookup):
    """The part of `CipherVectors` that compares words by cosine."""

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: NeighborIndex | None = None,
        oov: Oov = False,
    ) -> Neighbors | np.ndarray:
        """Return the words most similar to the mean of `positive` minus `negative`.

        Args:
            positive: a word, a row number or a vector, or a list of them. An element of a list can be a pair (key,
                weight); the default weight is 1. Vectors of words are scaled to length 1 first, other vectors are not.
            negative: like `positive`, with the default weight -1.
            topn: number of words to return, or None for the similarities of all words.
            clip_start: first row that is searched.
            clip_end: row after the last one that is searched.
            restrict_vocab: search only this many of the most frequent words; `clip_start` and `clip_end` have no
                effect then.
            indexer: an index of this table. A `WordIndex` makes the search in millions of words fast, but can miss a
                neighbor. Without an index the search is exact.
            oov: whether unknown words get the vector of `<oov>`, or "spelling"; see `get_vector`.

        Returns:
            Words and cosines, best first, without the words of the query; an empty list if the mean is zero. With
            `topn=None`, the cosines of all searched rows, including `<oov>` and the words of the query: (N,) float32.

        Raises:
            UnknownWordError: if a word has no row.
            BitcipherError: if `indexer` is the index of another table.
        """
        if _is_none_wanted(topn):
            return []
        keys, weights = _keys_and_weights(positive, negative)
        if not keys:
            raise BitcipherError("most_similar needs at least one word or vector.")
        query = self.get_mean_vector(keys, weights, post_normalize=True, ignore_missing=False, oov=oov)
        query_rows = self._get_rows([key for key in keys if not isinstance(key, np.ndarray)], oov)
        searched = self._searched(clip_start, clip_end, restrict_vocab)
        if indexer is not None:
            if topn is None or len(searched) < len(self):
                raise BitcipherError("A search with `indexer` needs `topn`, and searches all rows: leave out limits.")
            return self._search_index(indexer, query, query_rows, topn)
        scores = self._cosines(query, searched)
        if topn is None:
            return scores
        return self._best(scores, query_rows, topn, searched.start) if query.any() else []

    def most_similar_cosmul(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
        oov: Oov = False,
    ) -> Neighbors | np.ndarray:
        """Return the words with the highest product of similarities to `positive`, divided by that to `negative`.

        3CosMul of Levy & Goldberg (2014), equation (4), with cosines c as (1 + c) / 2: each word counts, while in the
        sum of `most_similar`, one large cosine can outweigh the others.

        Args:
            positive: a word, a row number or a vector, or a list of them. Vectors of words are scaled to length 1
                first, other vectors are not.
            negative: like `positive`.
            topn: number of words to return, or None for the scores of all words.
            restrict_vocab: search only this many of the most frequent words.
            oov: whether unknown words get the vector of `<oov>`, or "spelling"; see `get_vector`.

        Returns:
            Words and scores, best first, without the words of the query. With `topn=None`, the scores of all searched
            rows, (N,) float64.

        Raises:
            UnknownWordError: if a word has no row.
        """
        if _is_none_wanted(topn):
            return []
        groups = [[items] if _is_vector(items) else as_list(items) for items in (positive, negative)]
        if not groups[0]:
            raise BitcipherError("most_similar_cosmul needs at least one word or vector in `positive`.")
        searched = self._searched(0, None, restrict_vocab)
        products = []
        for keys in groups:
            product = np.ones(len(searched))
            for key in keys:
                query = self._check_vector(key) if isinstance(key, np.ndarray) else self.get_vector(key, True, oov)
                product *= (1 + self._products(query, searched)) / 2
            products.append(product)
        scores = products[0] / (products[1] + COSMUL_EPSILON)
        if topn is None:
            return scores
        words = [key for keys in groups for key in keys if not isinstance(key, np.ndarray)]
        return self._best(scores, self._get_rows(words, oov), topn, searched.start)

    def similar_by_key(
        self, key: Key, topn: int | None = 10, restrict_vocab: int | None = None, oov: Oov = False
    ) -> Neighbors | np.ndarray:
        """Return the words most similar to one key; see `most_similar`."""
        return self.most_similar([key], topn=topn, restrict_vocab=restrict_vocab, oov=oov)

    def similar_by_word(
        self, word: Key, topn: int | None = 10, restrict_vocab: int | None = None, oov: Oov = False
    ) -> Neighbors | np.ndarray:
        """Return the words most similar to one word; see `most_similar`."""
        return self.similar_by_key(word, topn, restrict_vocab, oov)

    def similar_by_vector(
        self, vector: np.ndarray, topn: int | None = 10, restrict_vocab: int | None = None
    ) -> Neighbors | np.ndarray:
        """Return the words most similar to a vector, (d,); see `most_similar`."""
        return self.most_similar([self._check_vector(vector)], topn=topn, restrict_vocab=restrict_vocab)

    def similarity(self, w1: Key, w2: Key, oov: Oov = False) -> float:
        """Return the cosine of two words.

        Raises:
            UnknownWordError: if a word has no row.
        """
        return _cosine(self.get_vector(w1, oov=oov), self.get_vector(w2, oov=oov))

    def distance(self, w1: Key, w2: Key, oov: Oov = False) -> float:
        """Return 1 minus the cosine of two words."""
        return 1 - self.similarity(w1, w2, oov)

    def n_similarity(self, ws1: Iterable[Key], ws2: Iterable[Key], oov: Oov = False) -> float:
        """Return the cosine between the means of two lists of words.

        Raises:
            UnknownWordError: if a word has no row.
        """
        means = (
            self.get_mean_vector(words, pre_normalize=False, ignore_missing=False, oov=oov) for words in (ws1, ws2)
        )
        return _cosine(*means)

    def distances(
        self, word_or_vector: Key | np.ndarray, other_words: Iterable[Key] = (), oov: Oov = False
    ) -> np.ndarray:
        """Return 1 minus the cosines of a word or vector with some words, or with all words of the table.

        Returns:
            (n,) or (N,) float32.

        Raises:
            UnknownWordError: if a word has no row.
        """
        query = self._query_vector(word_or_vector, oov)
        others = as_list(other_words)
        if not others:
            return 1 - self._cosines(query, range(len(self)))
        return 1 - self._cosines_of(others, query, oov)

    def doesnt_match(self, words: Iterable[Key], oov: Oov = False) -> Key:
        """Return the word that is farthest from the mean of all given words.

        Raises:
            UnknownWordError: if a word has no row.
        """
        words = as_list(words)
        if not words:
            raise BitcipherError("doesnt_match needs at least one word.")
        units = np.array([unit(self.get_vector(word, oov=oov)) for word in words])
        return words[int(np.argmin(units @ unit(units.mean(axis=0))))]

    def most_similar_to_given(self, key1: Key, keys_list: Iterable[Key], oov: Oov = False) -> Key:
        """Return the word in `keys_list` that is most similar to `key1`."""
        keys = as_list(keys_list)
        if not keys:
            raise BitcipherError("most_similar_to_given needs at least one word to choose from.")
        return keys[int(np.argmax([self.similarity(key1, key, oov) for key in keys]))]

    def closer_than(self, key1: Key, key2: Key, oov: Oov = False) -> list[str]:
        """Return the words that are closer to `key1` than `key2` is, in order of rank.

        Raises:
            UnknownWordError: if a word has no row.
        """
        query = self._query_vector(key1, oov)
        scores = self._cosines(query, range(len(self)))
        closer = (scores > self._cosines_of([key2], query, oov)[0]) & self._may_be_neighbor(len(scores))
        closer[self._get_rows([key1], oov)] = False
        return [self.index_to_key[row] for row in np.flatnonzero(closer)]

    def rank(self, key1: Key, key2: Key, oov: Oov = False) -> int:
        """Return the position of `key2` among the neighbors of `key1`, counted from 1."""
        return len(self.closer_than(key1, key2, oov)) + 1

    def _query_vector(self, word_or_vector: Key | np.ndarray, oov: Oov) -> np.ndarray:
        if isinstance(word_or_vector, Key):
            return self.get_vector(word_or_vector, norm=True, oov=oov)
        return unit(self._check_vector(word_or_vector)).astype(np.float32)

    def _searched(self, clip_start: int, clip_end: int | None, restrict_vocab: int | None) -> range:
        """Return the rows that a search compares.

        Raises:
            BitcipherError: if a limit is not an integer of at least 0, or 1 for `restrict_vocab`.
        """
        limits = (("clip_start", clip_start, 0), ("clip_end", clip_end, 0), ("restrict_vocab", restrict_vocab, 1))
        for name, value, least in limits:
            if value is not None and (not isinstance(value, Integral) or value < least):
                raise BitcipherError(f"`{name}` must be an integer of at least {least}, got {value!r}.")
        if restrict_vocab is not None:
            clip_start, clip_end = 0, restrict_vocab
        return range(len(self))[clip_start : clip_end or None]  # as in gensim, 0 is no limit

    def _cosines(self, query: np.ndarray, searched: range) -> np.ndarray:
        rows = slice(searched.start, searched.stop)
        return cosines(np.asarray(self.vectors)[rows], self.norms[rows], query)

    def _products(self, query: np.ndarray, searched: range) -> np.ndarray:
        """Return the products of a vector with the vectors of rows scaled to length 1, (n,) float64."""
        rows, norms = (
            np.asarray(self.vectors)[searched.start : searched.stop],
            self.norms[searched.start : searched.stop],
        )
        products = np.einsum("ij,j->i", rows, query, dtype=np.float64)
        return np.divide(products, norms, out=np.zeros(len(rows)), where=norms > 0)

    def _best(self, scores: np.ndarray, query_rows: np.ndarray, topn: int, start: int) -> Neighbors:
        """Return the words with the highest scores of rows from `start`, without those of the query and `<oov>`."""
        excluded = query_rows - start
        scores[excluded[(excluded >= 0) & (excluded < len(scores))]] = -np.inf
        scores[~self._may_be_neighbor(start + len(scores))[start:]] = -np.inf
        return [(self.index_to_key[start + row], float(scores[row])) for row in top_indices(scores, topn)]

    def _cosines_of(self, words: list[Key], query: np.ndarray, oov: Oov) -> np.ndarray:
        rows = np.stack([self.get_vector(word, oov=oov) for word in words])
        return cosines(rows, np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)), query)

    def _search_index(self, index: NeighborIndex, query: np.ndarray, query_rows: np.ndarray, topn: int) -> Neighbors:
        if isinstance(index, TableIndex):
            index.check_table(self)
        if not query.any():
            return []
        rows = np.setdiff1d(index.nearest(query, topn + len(query_rows)), query_rows)
        scores = cosines(np.asarray(self.vectors[rows]), self.norms[rows], query)
        return [(self.index_to_key[rows[i]], float(scores[i])) for i in top_indices(scores, topn)]

    def _may_be_neighbor(self, rows: int) -> np.ndarray:
        """Return whether each of the first `rows` rows is allowed as a neighbor: not `<oov>`, and no zero vector."""
        allowed = self.norms[:rows] > 0
        oov_row = self.key_to_index.get(OOV, rows)
        allowed[oov_row : oov_row + 1] = False
        return allowed


def _keys_and_weights(positive: Any, negative: Any) -> tuple[list[Key | np.ndarray], list[float]]:
    keys, weights = [], []
    for items, default in ((positive, 1.0), (negative, -1.0)):
        for item in [items] if _is_vector(items) else as_list(items):
            key, weight = item if isinstance(item, tuple) and len(item) == 2 else (item, default)
            if not isinstance(weight, int | float | np.number):
                raise BitcipherError(f"The weight of {key!r} must be a number, got {weight!r}.")
            keys.append(key)
            weights.append(float(weight))
    return keys, weights


def _is_none_wanted(topn: Any) -> bool:
    """Return whether no word is asked for.

    Raises:
        BitcipherError: if `topn` is not an integer or None.
    """
    if topn is not None and not isinstance(topn, Integral):
        raise BitcipherError(f"`topn` must be an integer or None, got {topn!r}.")
    return topn is not None and topn < 1


def _is_vector(items: Any) -> bool:
    return isinstance(items, np.ndarray) and items.ndim == 1


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.clip(unit(first) @ unit(second), -1, 1))
