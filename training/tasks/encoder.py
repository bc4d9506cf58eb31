"""From texts to a model's rows: pieces with their places in the text, special tokens, padding."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from training.data import SpecialTokens, plain_text_tokenizer

# Control and format characters: tokenizers may drop them, and no letter needs them.
_UNSEEN = {"Cc", "Cf"}


class Pieces(NamedTuple):
    """A text as the tokenizer cuts it, without special tokens."""

    ids: np.ndarray
    """[P] int32."""
    places: np.ndarray
    """[P, 2] int32, the first character of each piece and the one behind its last, without white space around: both are
    the same for a piece of white space alone. Pieces of one character that takes several have the same place."""


@dataclass(frozen=True)
class Encoder:
    """How a model wants its texts: `begin A end`, and `begin A end B end` for pairs, as BERT has it."""

    tokenizer: Tokenizer
    """Only cuts and numbers: its own truncation, padding and special tokens are not used."""
    specials: SpecialTokens
    length: int
    """Tokens a row, special ones included."""
    double_end: bool = False
    """Whether pairs are `begin A end end B end`, as RoBERTa has it."""
    token_types: bool = False
    """Whether the model tells A from B by token types, as BERT does: 0 up to A's end, 1 for B."""

    @cached_property
    def _cutter(self) -> Tokenizer:
        # Else a text that says </s> would end there.
        return plain_text_tokenizer(self.tokenizer)

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """The pieces of each text, all of them, however long it is."""
        encodings = self._cutter.encode_batch(list(texts), add_special_tokens=False)
        return [
            Pieces(np.array(encoding.ids, np.int32), _places(text, encoding.offsets))
            for text, encoding in zip(texts, encodings, strict=True)
        ]

    def room(self, *, pair: bool) -> int:
        """How many pieces of text a row has room for.

        Raises:
            BitcipherError: if it is none.
        """
        room = self.length - (2 + pair * (2 if self.double_end else 1))
        if room < 1 + pair:
            raise BitcipherError(f"A length of {self.length} tokens has no room for text: choose at least 8.")
        return room

    @property
    def second_at(self) -> int:
        """How many special tokens stand before the first piece of B."""
        return 3 if self.double_end else 2

    def rows(self, texts: Sequence[tuple[np.ndarray, np.ndarray | None]]) -> dict[str, np.ndarray]:
        """What a model takes.

        Args:
            texts: A and B, ids that fit into `room`; B is None for single texts.

        Returns:
            `input_ids` [N, S] int32, padded at the end to S = `length`; `attention_mask` [N, S] int8, 1 where there is
            a token; and with `token_types` also `token_type_ids` [N, S] int8. Widen them to the int64 that models take
            a batch at a time: they are an eighth to a half as large here.
        """
        begin, end = ([number] for number in (self.specials.begin, self.specials.end))
        ids = np.full((len(texts), self.length), self.specials.pad, np.int32)
        mask, types = (np.zeros(ids.shape, np.int8) for _ in range(2))
        for row, (first, second) in enumerate(texts):
            parts = [begin, first, end]
            if second is not None:
                parts += [end, second, end] if self.double_end else [second, end]
                types[row, len(first) + 2 : len(first) + self.second_at + len(second) + 1] = 1
            filled = np.concatenate(parts)
            ids[row, : len(filled)] = filled
            mask[row, : len(filled)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask}
        return inputs | {"token_type_ids": types} if self.token_types else inputs


def _places(text: str, offsets: list[tuple[int, int]]) -> np.ndarray:
    places = np.array(offsets, np.int32).reshape(-1, 2)
    for number, (start, end) in enumerate(offsets):
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
        # What the tokenizer's normalizer joined with the letter before, such as an accent, or dropped, is in no piece.
        behind = offsets[number + 1][0] if number + 1 < len(offsets) else len(text)
        while start < end < behind and not text[end].isspace() and unicodedata.category(text[end]) not in _UNSEEN:
            end += 1
        places[number] = start, end
    return places
