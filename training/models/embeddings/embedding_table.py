"""Vectors of the tokens of a tokenizer, resized to the width of a model's embeddings."""

from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV


@dataclass(frozen=True)
class TokenEmbeddings:
    """Vectors in the order of a tokenizer's V ids."""

    rows: np.ndarray
    """[V, d] float32: vector of each token; zeros for tokens without a vector."""
    has_vector: np.ndarray
    """[V] bool: whether the token has a vector. Special tokens have none, because they do not occur in text."""
    counts: np.ndarray | None
    """[V] int64: count of each token; None if the vectors were stored without counts."""


def token_embeddings(vectors: CipherVectors, tokenizer: Tokenizer) -> TokenEmbeddings:
    """Return the vector of every token.

    Args:
        vectors: vectors built with `--tokenizer tokenizer.json`.
        tokenizer: the model's tokenizer.

    Raises:
        BitcipherError: if fewer than half of the vectors belong to tokens of the tokenizer, which means that the
            vectors were built with another tokenizer.
    """
    size = max(tokenizer.get_vocab().values()) + 1
    ranks = np.full(size, -1, np.int64)
    special = {token_id for token_id, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    for token, token_id in tokenizer.get_vocab().items():
        if token_id not in special:
            ranks[token_id] = vectors.key_to_index.get(token, -1)
    found = ranks >= 0
    n_words = len(vectors.index_to_key) - (OOV in vectors.key_to_index)
    if found.sum() * 2 < n_words:
        raise BitcipherError(
            f"Only {found.sum():,} of the {n_words:,} words with vectors are tokens of the tokenizer; build the "
            "vectors with --tokenizer and the path of its tokenizer.json."
        )
    rows = np.zeros((size, vectors.vector_size), np.float32)
    rows[found] = np.asarray(vectors.vectors)[ranks[found]]
    counts = None
    if vectors.counts is not None:
        counts = np.zeros(size, np.int64)
        counts[found] = np.asarray(vectors.counts)[ranks[found]]
    return TokenEmbeddings(rows, found & (np.abs(rows).sum(axis=1) > 0), counts)


def resize_vectors(rows: np.ndarray, width: int) -> np.ndarray:
    """Change the width of vectors while preserving their distances as far as possible.

    Vectors wider than `width` are projected on their leading principal directions. Narrower vectors are mapped into the
    wider space by a fixed random orthonormal matrix, so that all dimensions of the model are used.

    Args:
        rows: [V, d] float32, one vector per row.
        width: width of the model's embeddings.

    Returns:
        [V, width] float32; `rows` itself if d equals `width`.
    """
    vector_size = rows.shape[1]
    if vector_size == width:
        return rows
    if vector_size > width:
        values, directions = np.linalg.eigh(rows.T.astype(np.float64) @ rows)
        return (rows @ directions[:, np.argsort(-values)[:width]]).astype(np.float32)
    basis, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(width, vector_size)))
    return (rows @ basis.T).astype(np.float32)


def cat_bits_and_window(width: int, n_words: int, max_window: int) -> tuple[int, int]:
    """Return bits and window of Cat vectors of exactly the given width: 2 · window · bits = width.

    Args:
        width: width of the model's embeddings.
        n_words: number of words, each of which needs its own code.
        max_window: maximum window.

    Returns:
        Bits and window. The window is the largest that leaves enough bits for `n_words` codes.

    Raises:
        BitcipherError: if no window gives this width with enough bits.

    >>> cat_bits_and_window(128, 8_000, 4)
    (16, 4)
    """
    min_bits = n_words.bit_length()  # the smallest b with 2ᵇ - 1 >= n_words codes
    for window in range(max_window, 0, -1):
        bits, rest = divmod(width, 2 * window)
        if rest == 0 and bits >= min_bits:
            return bits, window
    raise BitcipherError(
        f"No Cat vectors of {n_words:,} words have {width} dimensions. The number of dimensions must be even and at "
        f"least {2 * min_bits}. Choose another width, or mode sum or spectral."
    )
