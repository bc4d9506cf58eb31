"""`TokenFinder`: the rows of the tokens of texts. Each distinct chunk between whitespace is tokenized only once."""

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.formats.word_tokenizer import make_tokenizer
from bitcipher.vocabulary import OOV

# The tokenizer splits at Unicode's White_Space. Python's \s also has the separators U+001C to U+001F.
_CHUNK = re.compile(r"[\S\x1c-\x1f]+")

# Characters of chunks after which the memory of chunks is emptied: about 500,000 chunks and 100 MB.
MAX_CACHED_CHARACTERS = 1 << 22


class TokenFinder:
    """Tokens of texts by the tokenizer that folders of `SentenceEncoder` contain.

    This tokenizer splits chunks one by one, so the tokens of a text are those of its chunks.

    Args:
        words: all words and pieces, in order of their rows, `<oov>` among them.
        whitespace_only: whether text is split only at whitespace.
    """

    def __init__(self, words: list[str], whitespace_only: bool):
        self.tokenizer = make_tokenizer(words, whitespace_only, split_unknown=True)
        self._oov_row = words.index(OOV)
        self._rows: dict[str, list[int]] = {}
        self._characters = 0

    def find(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of the tokens of texts, without those of `<oov>`.

        Returns:
            The rows of all texts, one text after the other, (t,) int64, and the start of each text, (texts + 1,) int64.

        Raises:
            BitcipherError: if a text has a lone surrogate, which is no character.
        """
        chunks = [_CHUNK.findall(text) for text in texts]
        if self._characters > MAX_CACHED_CHARACTERS:
            self._rows, self._characters = {}, 0
        self._tokenize(list(set(chain.from_iterable(chunks)) - self._rows.keys()))
        rows = [[*chain.from_iterable(map(self._rows.__getitem__, text))] for text in chunks]
        starts = np.cumsum([0, *map(len, rows)])
        return np.fromiter(chain.from_iterable(rows), np.int64, starts[-1]), starts

    def _tokenize(self, chunks: list[str]) -> None:
        try:
            encodings = self.tokenizer.encode_batch_fast(chunks, add_special_tokens=False)
        except TypeError:  # the error of the library for a string that UTF-8 cannot encode
            chunk = next(chunk for chunk in chunks if any("\ud800" <= character <= "\udfff" for character in chunk))
            raise BitcipherError(
                f"A sentence contains {chunk!r}, which is not valid Unicode: decode the text with errors='replace'."
            ) from None
        for chunk, encoding in zip(chunks, encodings, strict=True):
            self._rows[chunk] = [row for row in encoding.ids if row != self._oov_row]
            self._characters += len(chunk)
