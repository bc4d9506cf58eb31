"""Tokens that begin a word, found by the marks of the tokenizer."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bitcipher.errors import BitcipherError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Characters by which byte-level BPE represents a space, line feed, carriage return and tab.
_BYTE_LEVEL_BLANKS = ("Ġ", "Ċ", "č", "ĉ")


def word_starts(tokenizer: "Tokenizer") -> np.ndarray:
    """Return which tokens begin a word.

    In WordPiece, these are the tokens without the continuation prefix. In byte-level BPE and with `Metaspace`, they are
    the tokens that begin with a blank.

    Returns:
        [highest id + 1] bool. Punctuation belongs to the preceding word, except in WordPiece.

    Raises:
        BitcipherError: if the tokenizer marks neither blanks nor continuations.
    """
    content = json.loads(tokenizer.to_str())
    vocabulary = tokenizer.get_vocab()
    starts = np.zeros(max(vocabulary.values()) + 1, bool)
    if content["model"]["type"] == "WordPiece":
        prefix = content["model"]["continuing_subword_prefix"]
        starts[[token_id for token, token_id in vocabulary.items() if not token.startswith(prefix)]] = True
        return starts
    marks = tuple(_blank_marks(content["pre_tokenizer"]))
    if not marks:
        raise BitcipherError(
            "The tokenizer does not mark where words begin; whole-word masking needs byte-level BPE, WordPiece, "
            "or a tokenizer that writes blanks as ▁."
        )
    starts[[token_id for token, token_id in vocabulary.items() if token.startswith(marks)]] = True
    return starts


def _blank_marks(pre_tokenizer: dict[str, Any] | None) -> Iterator[str]:
    match pre_tokenizer:
        case {"type": "Sequence", "pretokenizers": steps}:
            for step in steps:
                yield from _blank_marks(step)
        case {"type": "ByteLevel"}:
            yield from _BYTE_LEVEL_BLANKS
        case {"type": "Metaspace", "replacement": mark}:
            yield mark
