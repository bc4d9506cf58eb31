"""Which tokens begin a word, as the tokenizer marks it."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bitcipher.errors import BitcipherError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# How byte-level tokens write the bytes of a space, a line feed, a carriage return and a tabulator.
_BYTE_LEVEL_BLANKS = ("Ġ", "Ċ", "č", "ĉ")


def word_starts(tokenizer: "Tokenizer") -> np.ndarray:
    """Which tokens begin a word: those after a blank, or of WordPiece those that do not continue one.

    Returns:
        [highest id + 1] bool. Punctuation goes on with its word, but begins one of its own in WordPiece.

    Raises:
        BitcipherError: if the tokenizer marks words in none of these ways.
    """
    content = json.loads(tokenizer.to_str())
    vocabulary = tokenizer.get_vocab()
    starts = np.zeros(max(vocabulary.values()) + 1, bool)
    if content["model"]["type"] == "WordPiece":
        continuing = content["model"]["continuing_subword_prefix"]
        starts[[number for token, number in vocabulary.items() if not token.startswith(continuing)]] = True
        return starts
    marks = tuple(_marks(content["pre_tokenizer"]))
    if not marks:
        raise BitcipherError(
            "The tokenizer does not mark where words begin: masks of whole words need byte-level BPE, WordPiece, "
            "or a tokenizer that writes blanks as ▁."
        )
    starts[[number for token, number in vocabulary.items() if token.startswith(marks)]] = True
    return starts


def _marks(pre_tokenizer: dict | None) -> Iterator[str]:
    match pre_tokenizer:
        case {"type": "Sequence", "pretokenizers": inner}:
            for one in inner:
                yield from _marks(one)
        case {"type": "ByteLevel"}:
            yield from _BYTE_LEVEL_BLANKS
        case {"type": "Metaspace", "replacement": mark}:
            yield mark
