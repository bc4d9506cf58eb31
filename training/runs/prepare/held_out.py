"""Held-out text: sources and documents of the validation split, which are left out of the training text."""

from collections.abc import Sequence

from bitcipher.errors import BitcipherError
from pipelines.ingest.sources import Source


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


def describe_left_out(n_sources: int, n_documents: int) -> str | None:
    """Return a sentence on the sources and documents that were left out; None if there are none."""
    if not n_sources and not n_documents:
        return None
    return (
        "Left out of the training text, because `text.validation_sources` has them, too: files of `text.sources`: "
        f"{n_sources:,}; documents of its other files: {n_documents:,}."
    )
