"""What was read, as a table: words as text, each once, with the vectors that belong to them."""

import warnings

import numpy as np
import pyarrow as pa

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors

# Read at once: enough that a call costs nothing beside its bytes.
READ_BYTES = 8 << 20


def gather(words: list[bytes], table: bytearray, dims: int, uri: str, format: str) -> CipherVectors:
    """The table of words as bytes, and of their vectors end to end as little-endian float32.

    Of a word that is there twice the first stays, as in gensim; bytes that are not UTF-8 become U+FFFD. Either is said
    by one warning.

    Raises:
        BitcipherError: if there is no word, or a vector holds what is not a number.
    """
    if not words:
        raise BitcipherError(f"{uri} holds no words: fetch it again.")
    first: dict[str, int] = {}
    damaged = 0
    for row, word in enumerate(words):
        text = word.decode("utf-8", "replace")
        damaged += "\ufffd" in text
        first.setdefault(text, row)
    vectors = np.frombuffer(table, "<f4").reshape(len(words), dims)
    if len(first) < len(words):
        vectors = vectors[list(first.values())]
        doubled = len(words) - len(first)
        warnings.warn(f"{uri} holds {doubled:,} words a second time: the first of each is read.", stacklevel=4)
    if damaged:
        warnings.warn(f"{uri} holds {damaged:,} words with U+FFFD, or bytes that are not UTF-8.", stacklevel=4)
    result = CipherVectors(pa.array(first, pa.large_string()), vectors, manifest={"read_from": format})
    check_numbers(result, uri)
    return result


def check_numbers(vectors: CipherVectors, uri: str) -> None:
    """Refuse vectors that hold what is not a number, with the name of their file."""
    try:
        vectors.norms  # noqa: B018 - made once, and kept
    except BitcipherError as error:
        raise BitcipherError(f"{uri} cannot be used: {error}") from None
