"""Held-out text: sources and documents of the validation split, which are left out of the training text."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from bitcipher.errors import BitcipherError
from pipelines.ingest.documents import read_documents
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import Source
from training.data import document_digest, is_held_out

# Digests of the documents of the validation sources, sorted, in a folder of token shards.
HELD_OUT = "held-out.npy"


def training_sources(sources: Sequence[Source], validation: Sequence[Source]) -> dict[int, Source]:
    """Return the sources that are no validation sources, by their position.

    Args:
        sources: hashed sources of the training split.
        validation: hashed sources of the validation split.

    Raises:
        BitcipherError: if no source is left.
    """
    held_out = {source.sha256 for source in validation}
    kept = {number: source for number, source in enumerate(sources) if source.sha256 not in held_out}
    if not kept:
        raise BitcipherError(
            "All files of `text.sources` are also in `text.validation_sources`, so there is no training text; remove "
            "them from one of both."
        )
    return kept


def write_held_out(folder: Path, validation: Sequence[Source], reading: ReadOptions) -> None:
    """Write the digests of all documents of the validation sources."""
    documents = (document for source in validation for document in read_documents(source, reading))
    np.save(folder / HELD_OUT, np.unique(np.fromiter(map(document_digest, documents), np.uint64)))


def read_held_out(folder: Path) -> np.ndarray:
    """Return the digests [D] uint64 that `write_held_out` wrote, sorted."""
    return np.load(folder / HELD_OUT)


def drop_held_out(documents: Iterable[str], held_out: np.ndarray) -> Iterator[str]:
    """Yield the documents that are not held out."""
    return (document for document in documents if not is_held_out(document, held_out))


def describe_left_out(n_sources: int, n_documents: int) -> str | None:
    """Return a sentence on the sources and documents that were left out; None if there are none."""
    if not n_sources and not n_documents:
        return None
    return (
        f"{n_sources:,} files of `text.sources` are also in `text.validation_sources`, and so are {n_documents:,} "
        "documents of its other files; they are left out of the training text."
    )
