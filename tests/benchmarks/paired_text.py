"""Made-up text for the paired set: the same bytes everywhere, without files."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.counts.tokenized_shard import TokenizedShard

WORDS = 20_000
DOCUMENT_TOKENS = 500

# Share of words with a capital, and of those that a comma or a period follows.
CAPITALS, COMMAS, PERIODS = 0.08, 0.05, 0.05

LETTERS = "etaoinshrdlucmfwypvbgkxjqz"


class MadeText(NamedTuple):
    """Documents of 500 words, and the same as numbers of words.

    Attributes:
        spellings: (WORDS,) words of letters.
        ids: (tokens,) int32, numbers of the words of all documents.
        ends: (documents,) int64, the end of each document in `ids`.
    """

    spellings: np.ndarray
    ids: np.ndarray
    ends: np.ndarray

    @classmethod
    def make(cls, tokens: int, seed: int) -> "MadeText":
        """Draw words of a Zipf distribution. Texts of different seeds have no word in common."""
        draw = np.random.default_rng(seed)
        spellings = np.array([_spell(seed * WORDS + number) for number in range(WORDS)], object)
        ids = (np.exp(draw.random(tokens) * np.log(WORDS + 1)) - 1).astype(np.int32)
        return cls(spellings, ids, np.arange(DOCUMENT_TOKENS, tokens + 1, DOCUMENT_TOKENS))

    def shard(self) -> TokenizedShard:
        """Return the documents as tokens."""
        return TokenizedShard(pa.array(self.spellings.tolist(), pa.large_string()), self.ids, self.ends)

    def documents(self) -> list[str]:
        """Return the documents as text with capitals and punctuation."""
        draw = np.random.default_rng(len(self.ids))
        words = self.spellings[self.ids]
        kinds = draw.random(len(words))
        marks = np.full(len(words), "", object)
        marks[kinds < PERIODS + COMMAS] = ","
        marks[kinds < PERIODS] = "."
        capitals = draw.random(len(words)) < CAPITALS
        words = np.where(capitals, [word.capitalize() for word in words], words) + marks
        return [" ".join(part) for part in np.split(words, self.ends[:-1])]


def _spell(number: int) -> str:
    """Return a word of at least two letters, another one for each number."""
    spelling = ""
    number += len(LETTERS)
    while number:
        number, letter = divmod(number, len(LETTERS))
        spelling += LETTERS[letter]
    return spelling
