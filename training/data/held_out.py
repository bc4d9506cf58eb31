"""Digests of the held-out documents of a training text (see `pipelines.ingest.held_out`)."""

from collections.abc import Iterable

import numpy as np

from bitcipher.files import storage
from pipelines.ingest.held_out import DIGEST_DTYPE, document_digest

# Digests of held-out documents in a folder of token shards: sorted, little-endian, without a header.
HELD_OUT = "held-out.digests"


def write_held_out(folder: str, documents: Iterable[str]) -> None:
    """Write the digests of documents to a folder of token shards, before the shards are written.

    Args:
        folder: path or URI.
        documents: held-out documents, read once.

    Raises:
        BitcipherError: if the file cannot be written.
    """
    digests = np.unique(np.fromiter(map(document_digest, documents), DIGEST_DTYPE))
    with storage.writing(storage.join(folder, HELD_OUT)) as stream:
        stream.write(digests.tobytes())


def read_held_out(folder: str) -> np.ndarray:
    """Return the digests [D] uint64 of held-out documents, sorted; empty if `write_held_out` was not called."""
    return np.frombuffer(storage.read_bytes(storage.join(folder, HELD_OUT)) or b"", DIGEST_DTYPE)
