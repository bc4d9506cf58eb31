"""Context counts of a word in given sentences."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.rows.word_rows import ContextCounts
from bitcipher.vocabulary import OOV


def count_contexts(
    sentences: Iterable[Sequence[str]], word: str, window: int, key_to_index: Mapping[str, int], summed: bool = False
) -> tuple[ContextCounts, int]:
    """Count the contexts of a word as a build does: windows end at sentence ends, and each occurrence counts.

    Args:
        sentences: sentences or documents as sequences of tokens. Sentences without the word are ignored.
        word: the token whose contexts are counted.
        window: the largest offset of a context word.
        key_to_index: rank of each word; words without a rank count as `<oov>`.
        summed: whether to add up the counts of all offsets on each side of the word, as offsets -1 and 1.

    Returns:
        The counts, and the number of occurrences of the word.

    Raises:
        BitcipherError: if a sentence is not a sequence of tokens, or if the word has no context.
    """
    pairs: Counter[tuple[int, int]] = Counter()
    occurrences = 0
    for tokens in sentences:
        if isinstance(tokens, str) or not isinstance(tokens, Sequence):
            raise BitcipherError(f"Each sentence must be a list of tokens, got {type(tokens).__name__}.")
        for position, token in enumerate(tokens):
            if token != word:
                continue
            occurrences += 1
            for other in range(max(0, position - window), min(len(tokens), position + window + 1)):
                if other != position:
                    offset = other - position
                    rank = key_to_index.get(tokens[other], key_to_index[OOV])
                    pairs[np.sign(offset) if summed else offset, rank] += 1
    if not pairs:
        reason = "no other word is near it" if occurrences else "none of them contains it as a token"
        raise BitcipherError(f"The sentences give {word!r} no context: {reason}.")
    offsets, ranks = np.array(sorted(pairs), np.int64).T
    return ContextCounts(offsets, ranks, np.array([pairs[pair] for pair in sorted(pairs)], np.int64)), occurrences
