"""How a table was made, as far as its manifest says."""

from dataclasses import dataclass

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding import CipherEmbedding
from bitcipher.embedding.spectral import SpectralEmbedding
from bitcipher.errors import BitcipherError
from bitcipher.vectors.lookup import WordLookup

SPECTRAL = "spectral"


class UnknownProvenanceError(BitcipherError):
    """Vectors cannot be explained or inferred, for they do not keep how they were made of contexts."""


@dataclass(frozen=True)
class Provenance:
    """What made a table.

    Attributes:
        embedding: the estimator.
        window: the largest offset that is context.
        arrays: what it kept: "mean" and "matrix" of a whitening, or "directions".
        summed: whether offsets were added up while counting.
    """

    embedding: CipherEmbedding | SpectralEmbedding
    window: int
    arrays: dict[str, np.ndarray]
    summed: bool


def provenance_of(vectors: WordLookup, purpose: str) -> Provenance:
    """What made a table.

    Args:
        vectors: the table.
        purpose: what it is wanted for, "explained" or "inferred", for the sentence if it is not known.

    Raises:
        UnknownProvenanceError: if the table does not say, or was made without context.
    """
    options = vectors.manifest.get("embedding")
    arrays = vectors.refinement or {}
    if not isinstance(options, dict) or not {"mode", "window"} <= options.keys():
        raise UnknownProvenanceError(
            f"These vectors do not say how they were made, so nothing can be {purpose}: take those of a build."
        )
    mode, window = options["mode"], options["window"]
    if mode == "cipher":
        raise UnknownProvenanceError(
            f"Vectors of mode cipher know no context, so nothing can be {purpose}: they follow from ranks alone."
        )
    needed = {"directions"} if mode == SPECTRAL else {"mean", "matrix"}
    if not needed <= arrays.keys():
        raise UnknownProvenanceError(
            f"These vectors do not keep {' and '.join(sorted(needed - arrays.keys()))}, without which nothing can be "
            f"{purpose}: make them again by `bitcipher embed`."
        )
    if mode == SPECTRAL:
        embedding = SpectralEmbedding(options["vector_size"], options["context"])
    else:
        embedding = CipherEmbedding(options["bits"], window, mode, options["noise"], options["log"])
    return Provenance(embedding, window, arrays, vectors.manifest.get("options", {}).get("summed", False))


def check_belonging(vectors: WordLookup, counts: MergedCounts) -> None:
    """Refuse counts that a table was not made of.

    Raises:
        BitcipherError: if their words are not those of the table.
    """
    if not vectors.words.equals(counts.vocabulary.words):
        raise BitcipherError(
            f"The counts are of {len(counts.vocabulary):,} words and the vectors of {len(vectors):,}, which are not "
            "the same in the same order: take the counts that the vectors were made of."
        )
