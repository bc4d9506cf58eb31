"""Lookup of the ranks of some words."""

from collections.abc import Iterable

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.table.keys import as_list, unknown_key
from bitcipher.vocabulary import OOV, Vocabulary


def find_ranks(words: Iterable[str], vocabulary: Vocabulary) -> np.ndarray:
    """Return the rank of each word, (n,) int32.

    Raises:
        UnknownWordError: if a word is not in the vocabulary.
        BitcipherError: if a word is repeated or not a string.
    """
    known = vocabulary.words.to_pylist()
    rank_of_word = {word: rank for rank, word in enumerate(known)}
    found: dict[str, int] = {}
    for word in as_list(words):
        if not isinstance(word, str):
            raise BitcipherError(f"`words` must hold strings, got {word!r}.")
        if word not in rank_of_word:
            raise unknown_key(word, known, rank_of_word, f"Use {OOV!r} for all words outside the vocabulary.")
        if word in found:
            raise BitcipherError(f"`words` has {word!r} twice: name each word once.")
        found[word] = rank_of_word[word]
    return np.fromiter(found.values(), np.int32, len(found))
