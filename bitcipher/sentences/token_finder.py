"""`TokenFinder`: the rows of the words of texts. Each distinct chunk between whitespace is tokenized only once."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.formats.word_tokenizer import make_tokenizer
from bitcipher.vocabulary import OOV

# The tokenizer splits at Unicode's White_Space. Python's \s also has the separators U+001C to U+001F.
_CHUNK = re.compile(r"[\S\x1c-\x1f]+")

# Characters of chunks after which the memory of chunks is emptied: about 500,000 chunks and 100 MB.
MAX_CACHED_CHARACTERS = 1 << 22


class TokenRows(NamedTuple):
    """Words of several texts.

    Attributes:
        rows: (t,) int64, the rows of the known words of all texts, one text after the other.
        starts: (texts + 1,) int64, the start of each text in `rows`.
        unknown: the unknown words of all texts, one text after the other.
        unknown_starts: (texts + 1,) int64, the start of each text in `unknown`.
    """

    rows: np.ndarray
    starts: np.ndarray
    unknown: list[str]
    unknown_starts: np.ndarray


class TokenFinder:
    """Tokens of texts by the tokenizer that folders of `SentenceEncoder` contain.

    This tokenizer splits chunks one by one, so the tokens of a text are those of its chunks.

    Args:
        words: all words, in order of their rows, `<oov>` among them.
        whitespace_only: whether text is split only at whitespace.
    """

    def __init__(self, words: list[str], whitespace_only: bool):
        self._tokenizer = make_tokenizer(words, whitespace_only)
        self._oov_row = words.index(OOV)
        self._lowercase = self._tokenizer.normalizer is not None
        self._rows: dict[str, list[int]] = {}
        self._unknown: dict[str, list[str]] = {}
        self._characters = 0

    def find(self, texts: Sequence[str]) -> TokenRows:
        """Return the words of texts.

        Raises:
            BitcipherError: if a text has a lone surrogate, which is no character.
        """
        chunks = [_CHUNK.findall(text) for text in texts]
        if self._characters > MAX_CACHED_CHARACTERS:
            self._rows, self._unknown, self._characters = {}, {}, 0
        self._tokenize(list(set(chain.from_iterable(chunks)) - self._rows.keys()))
        rows = [[*chain.from_iterable(map(self._rows.__getitem__, text))] for text in chunks]
        starts = np.cumsum([0, *map(len, rows)])
        unknown = [[word for chunk in text for word in self._unknown.get(chunk, ())] for text in chunks]
        unknown_starts = np.cumsum([0, *map(len, unknown)])
        rows = np.fromiter(chain.from_iterable(rows), np.int64, starts[-1])
        return TokenRows(rows, starts, [*chain.from_iterable(unknown)], unknown_starts)

    def _tokenize(self, chunks: list[str]) -> None:
        try:
            encodings = self._tokenizer.encode_batch(chunks, add_special_tokens=False)
        except TypeError:  # the error of the library for a string that UTF-8 cannot encode
            chunk = next(chunk for chunk in chunks if any("\ud800" <= character <= "\udfff" for character in chunk))
            raise BitcipherError(
                f"A sentence contains {chunk!r}, which is not valid Unicode: decode the text with errors='replace'."
            ) from None
        for chunk, encoding in zip(chunks, encodings, strict=True):
            rows = encoding.ids
            if self._oov_row in rows:
                text = chunk.lower() if self._lowercase else chunk
                spans = (span for row, span in zip(rows, encoding.offsets, strict=True) if row == self._oov_row)
                self._unknown[chunk] = [text[start:stop] for start, stop in spans]
                rows = [row for row in rows if row != self._oov_row]
            self._rows[chunk] = rows
            self._characters += len(chunk)
