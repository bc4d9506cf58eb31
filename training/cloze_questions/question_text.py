"""Text of a question: words of its sentence, without some of them and in another order."""

from collections.abc import Sequence, Set

import numpy as np

from training.cloze_questions.contexts import Context
from training.counter_rng import uniform

# Lewis et al. 2019, section 2.3: words are dropped with a probability of 0.1, and move by up to three positions.
DROPPED_FRACTION = 0.1
MAX_MOVE = 3
# Least and greatest fraction of a sentence's words that a scattered question keeps or replaces.
MIN_KEPT_FRACTION = 0.2
MAX_KEPT_FRACTION = 0.8
REPLACED_FRACTION = 0.25
MAX_SCATTERED_WORDS = 20


def mix_near_words(words: Sequence[str], key: int) -> str:
    """Return words in a random order near their own, with some left out.

    Args:
        words: words around an answer.
        key: key of the random numbers.
    """
    draws = uniform(key, np.arange(len(words)), 2)
    return " ".join(words[index] for index in _near_order(draws) if draws[index, 1] >= DROPPED_FRACTION)


class ScatteredWords:
    """Makes questions that share few words with their sentence.

    Questions that people ask have function words and names of their own. So all frequent words, and some others, are
    replaced by words from anywhere in the document.

    Args:
        contexts: contexts of a document.
        frequent: frequent words, lowercase.
    """

    def __init__(self, contexts: Sequence[Context], frequent: Set[str]) -> None:
        self._frequent = frequent
        words = [word.text for context in contexts for sentence in context.sentences for word in sentence]
        self._frequent_words = [word.lower() for word in words if word.lower() in frequent]
        self._other_words = [word for word in words if word.lower() not in frequent]

    def mix(self, words: Sequence[str], key: int) -> str:
        """Return some of the words and their replacements, in a random order near their own.

        Args:
            words: words of a sentence of the document, without the answer.
            key: key of the random numbers.
        """
        draws = uniform(key, np.arange(len(words) + 1), 4)
        kept_fraction = MIN_KEPT_FRACTION + (MAX_KEPT_FRACTION - MIN_KEPT_FRACTION) * draws[-1, 0]
        kept = [index for index in _near_order(draws[:-1]) if draws[index, 1] < kept_fraction]
        return " ".join(self._replace(words[index], *draws[index, 2:].tolist()) for index in kept[:MAX_SCATTERED_WORDS])

    def _replace(self, word: str, is_replaced: float, choice: float) -> str:
        if word.lower() in self._frequent:
            return self._frequent_words[int(choice * len(self._frequent_words))]
        if is_replaced < REPLACED_FRACTION:
            return self._other_words[int(choice * len(self._other_words))]
        return word


def _near_order(draws: np.ndarray) -> list[int]:
    """Return a random order in which each position is near its own."""
    return np.argsort(np.arange(len(draws)) + draws[:, 0] * MAX_MOVE, kind="stable").tolist()
