"""Digests of held-out documents, which are left out of a training text."""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np

from bitcipher import storage

# Digests of held-out documents in a folder of token shards: sorted, little-endian, without a header.
HELD_OUT = "held-out.digests"
_DTYPE = np.dtype("<u8")


def document_digest(document: str) -> int:
    """Return the digest of the text of a document, below 2⁶⁴."""
    # Text that is not valid Unicode is refused when it is encoded into tokens.
    return int.from_bytes(hashlib.blake2b(document.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def write_held_out(folder: str, documents: Iterable[str]) -> None:
    """Write the digests of documents to a folder of token shards, before the shards are written.

    Args:
        folder: path or URI.
        documents: held-out documents, read once.

    Raises:
        BitcipherError: if the file cannot be written.
    """
    digests = np.unique(np.fromiter(map(document_digest, documents), _DTYPE))
    with storage.writing(storage.join(folder, HELD_OUT)) as stream:
        stream.write(digests.tobytes())


def read_held_out(folder: str) -> np.ndarray:
    """Return the digests [D] uint64 of held-out documents, sorted; empty if `write_held_out` was not called."""
    return np.frombuffer(storage.read_bytes(storage.join(folder, HELD_OUT)) or b"", _DTYPE)


def drop_held_out(documents: Iterable[str], held_out: np.ndarray) -> Iterator[str]:
    """Yield the documents whose digest is not among sorted digests [D] uint64."""
    for document in documents:
        digest = np.uint64(document_digest(document))
        at = np.searchsorted(held_out, digest)
        if at == len(held_out) or held_out[at] != digest:
            yield document
