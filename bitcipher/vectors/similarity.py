"""gensim's verbs of similarity, by the same names and with the same meanings.

They differ from gensim's in four ways. `<oov>` and words whose vector is zero are never given as neighbors.
A zero vector has similarity 0 to everything. An unknown word is an error in every verb, also where gensim
leaves it out, unless `oov=True` gives it the vector of `<oov>`. Ties go to the more frequent word.
"""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.vectors.ann_index import WordIndex
from bitcipher.vectors.cosines import best, cosines, unit
from bitcipher.vectors.lookup import WordLookup
from bitcipher.vectors.lookup_errors import Key, as_list
from bitcipher.vocabulary import OOV

Neighbors = list[tuple[str, float]]


class WordSimilarity(WordLookup):
    """The part of `CipherVectors` that compares words by the cosine of their vectors."""

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
        oov: bool = False,
        index: WordIndex | None = None,
    ) -> Neighbors | np.ndarray:
        """The words closest to the mean of some words less the mean of others.

        Args:
            positive: a word, a row number or a vector, or a list of them; each may be a pair with its weight,
                which is 1 otherwise. Words weigh in at length 1, vectors as they are.
            negative: the same, weighing -1 unless a pair says otherwise.
            topn: how many words to give, or None for the similarities of all.
            restrict_vocab: look only among that many of the most frequent words.
            oov: whether unknown words count as `<oov>`.
            index: look only where this index of the table leads, which is fast in tables of millions of words but may
                miss a neighbor; without it the search is exact.

        Returns:
            Words and cosines, best first, the words of the query left out; none if the query's mean is zero.
            With `topn=None` the cosines of all rows, `<oov>` and the query's included: (N,) float32.

        Raises:
            UnknownWordError: if a word has no row.
        """
        if topn is not None and not isinstance(topn, Integral):
            raise BitcipherError(f"topn must be a whole number or None, not {topn!r}.")
        if topn is not None and topn < 1:
            return []
        keys, weights = _keys_and_weights(positive, negative)
        if not keys:
            raise BitcipherError("Name at least one word or vector to find what is similar to it.")
        query = self.get_mean_vector(keys, weights, post_normalize=True, ignore_missing=False, oov=oov)
        own = self._rows([key for key in keys if not isinstance(key, np.ndarray)], oov)
        if index is not None:
            if topn is None or restrict_vocab is not None:
                raise BitcipherError("An index gives the nearest of all words: leave out restrict_vocab, and say topn.")
            return self._nearest(index, query, own, topn)
        scores = self._cosines(query, restrict_vocab)
        if topn is None:
            return scores
        if not query.any():
            return []
        scores[own[own < len(scores)]] = -np.inf
        scores[~self._may_be_neighbor(len(scores))] = -np.inf
        return [(self.index_to_key[row], float(scores[row])) for row in best(scores, topn)]

    def similar_by_word(
        self, word: Key, topn: int | None = 10, restrict_vocab: int | None = None, oov: bool = False
    ) -> Neighbors | np.ndarray:
        """The words closest to one word: `most_similar` of it alone."""
        return self.most_similar([word], topn=topn, restrict_vocab=restrict_vocab, oov=oov)

    def similar_by_vector(
        self, vector: np.ndarray, topn: int | None = 10, restrict_vocab: int | None = None
    ) -> Neighbors | np.ndarray:
        """The words closest to a vector, (d,)."""
        return self.most_similar([self._as_vector(vector)], topn=topn, restrict_vocab=restrict_vocab)

    def similarity(self, w1: Key, w2: Key, oov: bool = False) -> float:
        """The cosine of two words.

        Raises:
            UnknownWordError: if a word has no row.
        """
        return _cosine(self.get_vector(w1, oov=oov), self.get_vector(w2, oov=oov))

    def distance(self, w1: Key, w2: Key, oov: bool = False) -> float:
        """1 less the cosine of two words."""
        return 1 - self.similarity(w1, w2, oov)

    def n_similarity(self, ws1: Iterable[Key], ws2: Iterable[Key], oov: bool = False) -> float:
        """The cosine of the means of two lists of words.

        Raises:
            UnknownWordError: if a word has no row.
        """
        means = (
            self.get_mean_vector(words, pre_normalize=False, ignore_missing=False, oov=oov) for words in (ws1, ws2)
        )
        return _cosine(*means)

    def distances(
        self, word_or_vector: Key | np.ndarray, other_words: Iterable[Key] = (), oov: bool = False
    ) -> np.ndarray:
        """1 less the cosine of a word or vector with each of some words, or with all of the table.

        Returns:
            (n,) or (N,) float32.

        Raises:
            UnknownWordError: if a word has no row.
        """
        query = self._query(word_or_vector, oov)
        others = as_list(other_words)
        if not others:
            return 1 - self._cosines(query)
        rows = self._rows(others, oov)
        return 1 - cosines(np.asarray(self.vectors)[rows], self.norms[rows], query)

    def doesnt_match(self, words: Iterable[Key], oov: bool = False) -> Key:
        """The word that is furthest from the mean of all the words given.

        Raises:
            UnknownWordError: if a word has no row.
        """
        words = as_list(words)
        if not words:
            raise BitcipherError("Give at least one word to find the one that does not match.")
        units = np.array([unit(self.get_vector(word, oov=oov)) for word in words])
        return words[int(np.argmin(units @ unit(units.mean(axis=0))))]

    def most_similar_to_given(self, key1: Key, keys_list: Iterable[Key], oov: bool = False) -> Key:
        """The one of several words that is closest to a word."""
        keys = as_list(keys_list)
        if not keys:
            raise BitcipherError("Give at least one word to choose the most similar from.")
        return keys[int(np.argmax([self.similarity(key1, key, oov) for key in keys]))]

    def closer_than(self, key1: Key, key2: Key, oov: bool = False) -> list[str]:
        """The words that are closer to the first word than the second is, in order of rank.

        Raises:
            UnknownWordError: if a word has no row.
        """
        scores = self._cosines(self._query(key1, oov))
        closer = (scores > scores[self.get_index(key2, oov=oov)]) & self._may_be_neighbor(len(scores))
        closer[self.get_index(key1, oov=oov)] = False
        return [self.index_to_key[row] for row in np.flatnonzero(closer)]

    def rank(self, key1: Key, key2: Key, oov: bool = False) -> int:
        """The place of the second word among the neighbors of the first, counted from 1."""
        return len(self.closer_than(key1, key2, oov)) + 1

    def _query(self, word_or_vector: Key | np.ndarray, oov: bool) -> np.ndarray:
        if isinstance(word_or_vector, Key):
            return self.get_vector(word_or_vector, norm=True, oov=oov)
        return unit(self._as_vector(word_or_vector)).astype(np.float32)

    def _cosines(self, query: np.ndarray, first: int | None = None) -> np.ndarray:
        if first is not None and (not isinstance(first, Integral) or first < 1):
            raise BitcipherError(f"restrict_vocab must be a whole number of at least 1, not {first!r}.")
        return cosines(np.asarray(self.vectors)[:first], self.norms[:first], query)

    def _nearest(self, index: WordIndex, query: np.ndarray, own: np.ndarray, topn: int) -> Neighbors:
        if not query.any():
            return []
        rows = np.setdiff1d(index.nearest(query, topn + len(own)), own)
        scores = cosines(np.asarray(self.vectors[rows]), self.norms[rows], query)
        return [(self.index_to_key[rows[place]], float(scores[place])) for place in best(scores, topn)]

    def _may_be_neighbor(self, first: int) -> np.ndarray:
        allowed = self.norms[:first] > 0
        oov_row = self.key_to_index.get(OOV, first)
        allowed[oov_row : oov_row + 1] = False
        return allowed


def _keys_and_weights(positive: Any, negative: Any) -> tuple[list[Key | np.ndarray], list[float]]:
    keys, weights = [], []
    for items, default in ((positive, 1.0), (negative, -1.0)):
        is_vector = isinstance(items, np.ndarray) and items.ndim == 1
        for item in [items] if is_vector else as_list(items):
            key, weight = item if isinstance(item, tuple) and len(item) == 2 else (item, default)
            if not isinstance(weight, int | float | np.number):
                raise BitcipherError(f"The weight of {key!r} must be a number, not {weight!r}.")
            keys.append(key)
            weights.append(float(weight))
    return keys, weights


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.clip(unit(first) @ unit(second), -1, 1))
