"""A table taken piece by piece, so that writing it takes little memory; and folders that appear when they are whole."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from bitcipher import storage
from bitcipher.vectors import CipherVectors

Advance = Callable[[int], None]

# Of float32 in a block: as text it is about three times as much.
BLOCK_BYTES = 8 << 20


def blocks(vectors: CipherVectors, advance: Advance) -> Iterator[tuple[int, list[str], np.ndarray]]:
    """The number of the first row, the words and the rows, (n, d) little-endian float32, of each block in turn."""
    rows = max(1, BLOCK_BYTES // (4 * vectors.vector_size))
    for start in range(0, len(vectors), rows):
        words = vectors.words.slice(start, rows).to_pylist()
        yield start, words, np.ascontiguousarray(vectors.vectors[start : start + rows], "<f4")
        advance(len(words))


def tokenizer_of(vectors: CipherVectors) -> str:
    """The name of the tokenizer that the words come from, or nothing if the table does not tell."""
    options = vectors.manifest.get("options")
    return str(options.get("tokenizer") or "") if isinstance(options, dict) else ""


@contextmanager
def new_folder(target: str) -> Iterator[str]:
    """A folder to write to under a unique name beside the target, which gets its name when the block ends well."""
    unfinished = f"{target.rstrip('/')}.{uuid.uuid4().hex}.tmp"
    try:
        yield unfinished
        storage.move(unfinished, target)
    except BaseException:
        storage.remove(unfinished)
        raise
