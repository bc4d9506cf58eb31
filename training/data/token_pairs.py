"""Pairs of texts in token shards: their documents are the source and the target of the first pair, and so on."""

import numpy as np

from bitcipher.errors import BitcipherError
from training.data.token_streams import TokenStream


class TokenPairs:
    """Pairs whose source and target both have at most a number of tokens; `len(pairs)` is their number.

    Args:
        stream: tokens of the sides of all pairs, each side a document.
        max_length: maximum number of tokens of a side, including its end token.
        name: name of the split, for error messages.

    Raises:
        BitcipherError: if no pair is short enough.
    """

    def __init__(self, stream: TokenStream, max_length: int, name: str):
        lengths = np.diff(stream.ends, prepend=0).reshape(-1, 2)
        starts = stream.ends.reshape(-1, 2) - lengths
        is_short = (lengths <= max_length).all(axis=1)
        self.n_left_out = int((~is_short).sum())
        """Number of pairs that are too long."""
        self.lengths = lengths[is_short]
        """[N, 2] int64: number of tokens of the source and of the target of each pair."""
        if not is_short.any():
            raise BitcipherError(
                f"The {name} split has no pair of texts with at most {max_length} tokens each; provide more pairs, or "
                "raise `model.max_position_embeddings`."
            )
        self._stream, self._starts = stream, starts[is_short]

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, ids: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the sources and the targets of pairs, int64 tokens with the end token.

        Args:
            ids: [B] int64, from 0 to `len(pairs)` - 1.
        """
        sources, targets = (
            [self._stream.read(self._starts[ids, side][row : row + 1], length)[0] for row, length in enumerate(column)]
            for side, column in enumerate(self.lengths[ids].T.tolist())
        )
        return sources, targets
