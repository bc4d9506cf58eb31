"""Held-out documents, which are left out of counts and of training text. A digest of its text identifies a document."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from bitcipher.files import storage
from pipelines.ingest.chunk_batches import ChunkBatch, batch_chunks
from pipelines.ingest.content_hash import sha256
from pipelines.ingest.document_chunks import DocumentChunk, split_document
from pipelines.ingest.documents import read_documents
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import Source

# Type of stored digests.
DIGEST_DTYPE = np.dtype("<u8")


@dataclass(frozen=True)
class HeldOut:
    """Documents that a build does not count: those of a file of digests, and a fraction that their digests draw."""

    digests: str
    """Absolute path or URI of a file with the sorted digests of documents, little-endian uint64."""
    fraction: float
    """Fraction of all documents, see `is_drawn`."""

    def fingerprint(self) -> dict[str, str | float]:
        """Return values that identify the documents.

        Raises:
            BitcipherError: if the file cannot be read.
        """
        return {"held_out": f"sha256:{sha256(self.digests)}", "held_out_fraction": self.fraction}


def document_digest(document: str) -> int:
    """Return the digest of the text of a document, below 2⁶⁴."""
    # Text that is not valid Unicode is refused when it is encoded into tokens.
    return int.from_bytes(hashlib.blake2b(document.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def is_drawn(document: str, fraction: float) -> bool:
    """Return whether the digest of a document is among the given fraction of all possible digests."""
    return document_digest(document) < fraction * 2**64


def drop_held_out(documents: Iterable[str], digests: np.ndarray) -> Iterator[str]:
    """Yield the documents whose digest is not among sorted digests [D] uint64."""
    for document in documents:
        digest = np.uint64(document_digest(document))
        at = np.searchsorted(digests, digest)
        if at == len(digests) or digests[at] != digest:
            yield document


class KeptDocuments:
    """Reader of the documents that are not held out. It holds their digests in memory.

    Args:
        held_out: documents to leave out.

    Raises:
        BitcipherError: if the file of digests cannot be read.
    """

    def __init__(self, held_out: HeldOut):
        self._fraction = held_out.fraction
        with storage.reading(held_out.digests) as stream:
            self._digests = np.frombuffer(stream.read(), DIGEST_DTYPE)

    def read_batches(self, source: Source, options: ReadOptions, quarantine: Quarantine) -> Iterator[ChunkBatch]:
        """Yield the chunks of `read_chunks` in batches."""
        return batch_chunks(self.read_chunks(source, options, quarantine))

    def read_chunks(self, source: Source, options: ReadOptions, quarantine: Quarantine) -> Iterator[DocumentChunk]:
        """Yield the chunks of the kept documents of a source in order; one document at a time is in memory.

        Arguments and errors are those of `read_documents`.
        """
        documents = drop_held_out(read_documents(source, options, quarantine), self._digests)
        kept = (document for document in documents if not is_drawn(document, self._fraction))
        yield from chain.from_iterable(split_document([document]) for document in kept)
