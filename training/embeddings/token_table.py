"""From cipher vectors to a table with a row for each token of a tokenizer, as wide as a model's own."""

from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import OOV


@dataclass(frozen=True)
class TokenTable:
    """Rows in the order of a tokenizer's numbers."""

    rows: np.ndarray
    """[V, d], float32; zeros where nothing is known."""
    known: np.ndarray
    """[V], bool: tokens that have a vector. Special tokens have none, for they stand in no text."""
    counts: np.ndarray | None
    """[V], int64: how often each token was counted, if the vectors know."""


def token_table(vectors: CipherVectors, tokenizer: Tokenizer) -> TokenTable:
    """Look up every token's vector.

    Args:
        vectors: of the tokenizer's own tokens: of a build with `--tokenizer tokenizer.json`.
        tokenizer: that of the model.

    Raises:
        BitcipherError: if fewer than half of the vectors are of its tokens, for then they are of other words.
    """
    size = max(tokenizer.get_vocab().values()) + 1
    places = np.full(size, -1, np.int64)
    special = {number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    for token, number in tokenizer.get_vocab().items():
        if number not in special:
            places[number] = vectors.key_to_index.get(token, -1)
    found = places >= 0
    words = len(vectors.index_to_key) - (OOV in vectors.key_to_index)
    if found.sum() * 2 < words:
        raise BitcipherError(
            f"Only {found.sum():,} of the {words:,} words that have vectors are tokens of the tokenizer: build the "
            "vectors with --tokenizer and the path of its tokenizer.json."
        )
    rows = np.zeros((size, vectors.vector_size), np.float32)
    rows[found] = np.asarray(vectors.vectors)[places[found]]
    counts = None
    if vectors.counts is not None:
        counts = np.zeros(size, np.int64)
        counts[found] = np.asarray(vectors.counts)[places[found]]
    return TokenTable(rows, found & (np.abs(rows).sum(axis=1) > 0), counts)


def fit_width(rows: np.ndarray, width: int) -> np.ndarray:
    """Rows of another width that keep their distances as well as they can.

    Wider ones are projected on their principal directions; narrower ones are turned into the wider space by a rotation
    that is always the same, so that all of a model's numbers take part.

    Args:
        rows: [V, d].
        width: of the model's table.

    Returns:
        [V, width], float32; the rows themselves if they are as wide.
    """
    dimensions = rows.shape[1]
    if dimensions == width:
        return rows
    if dimensions > width:
        values, directions = np.linalg.eigh(rows.T.astype(np.float64) @ rows)
        return (rows @ directions[:, np.argsort(-values)[:width]]).astype(np.float32)
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(width, dimensions)))
    return (rows @ rotation.T).astype(np.float32)


def bits_for(width: int, words: int, window: int) -> tuple[int, int]:
    """Bits and radius of Cat vectors that are exactly as wide as a model's table: 2 · radius · bits = width.

    Args:
        width: of the model's table.
        words: of the vocabulary, which the code must be able to tell apart.
        window: the largest that is wanted.

    Returns:
        Bits and the largest possible radius.

    Raises:
        BitcipherError: if no radius gives that width with enough bits.

    >>> bits_for(128, 8_000, 4)
    (16, 4)
    """
    enough = words.bit_length()  # the fewest with 2ᵇ − 1 codes or more
    for tried in range(window, 0, -1):
        bits, rest = divmod(width, 2 * tried)
        if rest == 0 and bits >= enough:
            return bits, tried
    raise BitcipherError(
        f"No Cat vectors of {words:,} words are {width} wide: they take {enough} bits on either side, {2 * enough} "
        "dimensions and a multiple of 2; choose another width, mode sum or mode spectral."
    )
