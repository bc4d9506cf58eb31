"""What stands around a word in some sentences."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.rows import Row
from bitcipher.vocabulary import OOV


def row_of_contexts(
    contexts: Iterable[Sequence[str]], word: str, window: int, known: Mapping[str, int], summed: bool = False
) -> Row:
    """The row of a word as it is counted: windows end where a sentence does, each occurrence counts.

    Args:
        contexts: sentences or documents as sequences of tokens; those without the word say nothing.
        word: the token.
        window: the largest offset that is context.
        known: the rank of each word; others count as `<oov>`.
        summed: whether offsets are added up, all before the word as one, and all behind it.

    Raises:
        BitcipherError: if a sentence is no sequence of tokens, or if nothing stands around the word.
    """
    pairs: Counter[tuple[int, int]] = Counter()
    occurrences = 0
    for tokens in contexts:
        if isinstance(tokens, str) or not isinstance(tokens, Sequence):
            raise BitcipherError(f"Give each sentence as a list of tokens, not as {type(tokens).__name__}.")
        for place, token in enumerate(tokens):
            if token != word:
                continue
            occurrences += 1
            for other in range(max(0, place - window), min(len(tokens), place + window + 1)):
                if other != place:
                    offset = other - place
                    pairs[np.sign(offset) if summed else offset, known.get(tokens[other], known[OOV])] += 1
    if not pairs:
        why = "no other word stands near it" if occurrences else "none of them holds it as a token"
        raise BitcipherError(f"The sentences say nothing about {word!r}: {why}.")
    offsets, ranks = np.array(sorted(pairs), np.int64).T
    return Row(offsets, ranks, np.array([pairs[pair] for pair in sorted(pairs)], np.int64))
