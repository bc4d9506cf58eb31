"""Masked examples in which a word outside the vocabulary has one position, and a vector from its bytes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens

Words = Sequence[str]


@dataclass(frozen=True)
class WordBatch:
    """Masked examples of a model whose table has rows for more strings than its vocabulary.

    Attributes:
        input_ids: [B, L] int64; the id V + i, with V tokens in the vocabulary, stands for the string i of `strings`.
        attention_mask: [B, L] int64, 0 at padding.
        positions: [M] int64, ascending indices of the masked words in the flattened batch.
        labels: [M] int64, their tokens.
        strings: words outside the vocabulary.
    """

    input_ids: np.ndarray
    attention_mask: np.ndarray
    positions: np.ndarray
    labels: np.ndarray
    strings: tuple[str, ...]


class WordEncoder:
    """Encoder of words that may be misspelled.

    Args:
        tokenizer: tokenizer of the model, with a mask token.
        is_whole: a word of several tokens has one position, and a vector of its own; else it has a position per token.
    """

    def __init__(self, tokenizer: Tokenizer, *, is_whole: bool) -> None:
        """Look up the special tokens.

        Raises:
            BitcipherError: if there is no mask token.
        """
        special = special_tokens(tokenizer)
        if special.mask is None:
            raise BitcipherError(
                "The tokenizer has no mask token, which masked examples need; use that of a masked LM."
            )
        self._special, self._mask = special, special.mask
        self._tokenizer, self._is_whole, self._size = tokenizer, is_whole, vocab_size(tokenizer)
        self._pieces: dict[str, list[int]] = {}

    def split(self, text: str) -> list[str]:
        """Return the words of a text as the tokenizer normalizes and separates them."""
        if self._tokenizer.normalizer is not None:
            text = self._tokenizer.normalizer.normalize_str(text)
        return [word for word, _ in self._tokenizer.pre_tokenizer.pre_tokenize_str(text)]

    def pieces(self, word: str) -> list[int]:
        """Return the tokens of a word."""
        if word not in self._pieces:
            self._pieces[word] = [token.id for token in self._tokenizer.model.tokenize(word)]
        return self._pieces[word]

    def encode(self, passages: Sequence[Words], shown: Sequence[Words], masked: Sequence[np.ndarray]) -> WordBatch:
        """Return a batch of examples: the begin token, the words of a passage, and the end token.

        Args:
            passages: words of each example, as they are meant.
            shown: the same words as the model reads them, such as misspelled ones.
            masked: for each example, whether a word is masked; masked words have one token.
        """
        numbers: dict[str, int] = {}
        rows, positions, labels = [], [], []
        for meant, words, is_masked in zip(passages, shown, masked, strict=True):
            row, columns = [self._special.begin], []
            for target, word, hidden in zip(meant, words, is_masked, strict=True):
                if hidden:
                    columns.append(len(row))
                    labels += self.pieces(target)
                    row.append(self._mask)
                elif self._is_whole and len(self.pieces(word)) > 1:
                    row.append(self._size + numbers.setdefault(word, len(numbers)))
                else:
                    row += self.pieces(word)
            rows.append([*row, self._special.end])
            positions.append(columns)
        length = max(map(len, rows))
        input_ids = np.full((len(rows), length), self._special.pad, np.int64)
        for line, row in zip(input_ids, rows, strict=True):
            line[: len(row)] = row
        lengths = np.array([len(row) for row in rows])
        flat = [number * length + column for number, columns in enumerate(positions) for column in columns]
        return WordBatch(
            input_ids=input_ids,
            attention_mask=(np.arange(length) < lengths[:, None]).astype(np.int64),
            positions=np.array(flat, np.int64),
            labels=np.array(labels, np.int64),
            strings=tuple(numbers),
        )
