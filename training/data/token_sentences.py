"""Sentences in token shards: their documents, cut into pieces if they are long."""

import numpy as np

from bitcipher.errors import BitcipherError
from training.data.token_streams import TokenStream


class TokenSentences:
    """Documents without their end tokens, cut into consecutive pieces; `len(sentences)` is the number of pieces.

    Args:
        stream: tokens of all documents, each with an end token.
        max_length: maximum number of tokens of a piece.
        name: name of the split, for error messages.

    Raises:
        BitcipherError: if there are fewer than two pieces.
    """

    def __init__(self, stream: TokenStream, max_length: int, name: str):
        document_lengths = np.diff(stream.ends, prepend=0) - 1
        first_tokens = stream.ends - 1 - document_lengths
        n_pieces = -(-document_lengths // max_length)
        documents = np.repeat(np.arange(len(n_pieces)), n_pieces)
        pieces = np.arange(len(documents)) - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)
        self._starts = first_tokens[documents] + pieces * max_length
        self.lengths = np.minimum(document_lengths[documents] - pieces * max_length, max_length)
        """[N] int64: number of tokens of each piece."""
        if len(self.lengths) < 2:
            raise BitcipherError(
                f"The {name} split has fewer than two sentences to compare; provide more text, or change "
                "`text.validation_fraction`."
            )
        self._stream = stream

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, ids: np.ndarray) -> list[np.ndarray]:
        """Return the tokens of pieces, int64.

        Args:
            ids: [B] int64, from 0 to `len(sentences)` - 1.
        """
        starts, lengths = self._starts[ids], self.lengths[ids].tolist()
        return [self._stream.read(starts[row : row + 1], length)[0] for row, length in enumerate(lengths)]
