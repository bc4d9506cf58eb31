"""Encoder from texts to model inputs: tokens with character spans, special tokens and padding."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from training.data.special_tokens import SpecialTokens
from training.data.tokenizer_files import plain_text_tokenizer

# Unicode categories of control and format characters, which are not part of a letter. Some tokenizers drop them.
_INVISIBLE = {"Cc", "Cf"}


class Pieces(NamedTuple):
    """Tokens of a text without special tokens."""

    ids: np.ndarray
    """Token ids, [tokens] int32."""
    offsets: np.ndarray
    """[tokens, 2] int32: start and end character of each token, without surrounding white space. A token that is only
    white space has equal start and end. Several tokens of one character have the same offsets."""


@dataclass(frozen=True)
class Encoder:
    """Input format of a model: `begin A end` for single texts and `begin A end B end` for pairs, as in BERT."""

    tokenizer: Tokenizer
    """Tokenizer of the model; its truncation, padding and special tokens are not used."""
    specials: SpecialTokens
    """Ids of the special tokens of the model."""
    length: int
    """Number of tokens per row, including special tokens."""
    double_end: bool = False
    """Encode pairs as `begin A end end B end`, as in RoBERTa."""
    token_types: bool = False
    """Return token types, as in BERT: 0 up to the end of A, 1 for B."""

    @cached_property
    def _plain_tokenizer(self) -> Tokenizer:
        # Otherwise a text that contains "</s>" would end there.
        return plain_text_tokenizer(self.tokenizer)

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the tokens of each text, without truncation."""
        encodings = self._plain_tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [
            Pieces(np.array(encoding.ids, np.int32), _trimmed_offsets(text, encoding.offsets))
            for text, encoding in zip(texts, encodings, strict=True)
        ]

    def room(self, *, pair: bool) -> int:
        """Return the maximum number of text tokens per row.

        Raises:
            BitcipherError: if the length leaves no space for text.
        """
        room = self.length - (2 + pair * (2 if self.double_end else 1))
        if room < 1 + pair:
            raise BitcipherError(f"A length of {self.length} tokens has no room for text; choose at least 8.")
        return room

    @property
    def second_at(self) -> int:
        """Number of special tokens before the first token of B."""
        return 3 if self.double_end else 2

    def rows(self, texts: Sequence[tuple[np.ndarray, np.ndarray | None]]) -> dict[str, np.ndarray]:
        """Return model inputs.

        Args:
            texts: token ids of A and B for each of the N rows, at most `room` ids in total; B is None for single texts.

        Returns:
            `input_ids` [N, S] int32, right-padded to S = `length`; `attention_mask` [N, S] int8, 1 for tokens; and with
            `token_types` also `token_type_ids` [N, S] int8. Models take int64. To save memory, convert one batch at a
            time.
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


def _trimmed_offsets(text: str, offsets: list[tuple[int, int]]) -> np.ndarray:
    """Return offsets without surrounding white space, extended over accents that the normalizer dropped."""
    trimmed = np.array(offsets, np.int32).reshape(-1, 2)
    for number, (start, end) in enumerate(offsets):
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
        # Extend the span over characters that the normalizer dropped or joined with the preceding letter (accents).
        next_start = offsets[number + 1][0] if number + 1 < len(offsets) else len(text)
        while (
            start < end < next_start and not text[end].isspace() and unicodedata.category(text[end]) not in _INVISIBLE
        ):
            end += 1
        trimmed[number] = start, end
    return trimmed
