"""`Provenance`: how vectors were made, read from their manifest."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.cipher_embedding import CipherEmbedding
from bitcipher.embedding.spectral.basis import ARRAYS
from bitcipher.embedding.spectral.spectral_embedding import Landmarks, SpectralEmbedding
from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from bitcipher.table.vector_table import VectorTable

SPECTRAL = "spectral"
SOURCE = "The manifest of the vectors"
EMBEDDING_SOURCE = "The embedding in the manifest of the vectors"

PositiveInt = Annotated[int, Field(ge=1)]


class UnknownProvenanceError(BitcipherError):
    """Error for vectors that do not record how they were made, or that were made without contexts."""


class EmbeddingRecord(Record):
    """Embedding options of all modes in a manifest."""

    model_config = ConfigDict(extra="ignore")

    mode: Literal["spectral", "cat", "sum", "cipher"]
    window: PositiveInt


class SpectralRecord(EmbeddingRecord):
    """Embedding options of mode spectral in a manifest."""

    vector_size: PositiveInt
    context: str
    landmarks: Landmarks
    landmark_contexts: Landmarks

    def make(self) -> SpectralEmbedding:
        """Return the embedding of these options."""
        return SpectralEmbedding(self.vector_size, self.context, self.landmarks, self.landmark_contexts)


class CipherRecord(EmbeddingRecord):
    """Embedding options of modes cat and sum in a manifest."""

    bits: PositiveInt
    noise: str
    log: str
    noise_over: str = "bits"

    def make(self) -> CipherEmbedding:
        """Return the embedding of these options."""
        return CipherEmbedding(self.bits, self.window, self.mode, self.noise, self.log, self.noise_over)


class CountRecord(Record):
    """Counting options in a manifest."""

    model_config = ConfigDict(extra="ignore")

    summed: bool = False


class ProvenanceRecord(Record):
    """The part of a manifest that explanation and inference need."""

    model_config = ConfigDict(extra="ignore")

    embedding: dict[str, Any] | None = None
    options: CountRecord = CountRecord()
    total_passages: Annotated[int, Field(ge=0)] | None = None
    digests: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """The embedding that made some vectors, with its learned arrays.

    Attributes:
        embedding: embedding with the recorded options.
        window: the largest offset of a context word.
        arrays: arrays learned by the embedding: "mean" and "matrix" of a whitening (modes cat and sum), or those of
            `Basis` (mode spectral).
        summed: whether offsets were added up while counting.
        total_passages: number of passages of the corpus, or None if the manifest does not record it.
        digests: digests of the words and the counts, by "words" and "counts".
    """

    embedding: CipherEmbedding | SpectralEmbedding
    window: int
    arrays: dict[str, np.ndarray]
    summed: bool
    total_passages: int | None
    digests: dict[str, str]


def read_provenance(vectors: VectorTable, purpose: str) -> Provenance:
    """Return the provenance of vectors.

    Args:
        vectors: the vectors.
        purpose: "explained" or "inferred", for error messages.

    Raises:
        UnknownProvenanceError: if the vectors do not record their provenance, or were made without context.
        BitcipherError: if the manifest is damaged.
    """
    record = ProvenanceRecord.parse(vectors.manifest, SOURCE)
    arrays = vectors.refinement or {}
    if record.embedding is None:
        raise UnknownProvenanceError(
            f"These vectors do not record how they were made, so nothing can be {purpose}: use the vectors of a build."
        )
    mode = EmbeddingRecord.parse(record.embedding, EMBEDDING_SOURCE).mode
    if mode == "cipher":
        raise UnknownProvenanceError(
            f"Vectors of mode cipher do not depend on contexts, so nothing can be {purpose}: use another mode."
        )
    required = set(ARRAYS) if mode == SPECTRAL else {"mean", "matrix"}
    if not required <= arrays.keys():
        raise UnknownProvenanceError(
            f"These vectors lack {' and '.join(sorted(required - arrays.keys()))}, so nothing can be {purpose}: make "
            "them again with `bitcipher embed`."
        )
    options = (SpectralRecord if mode == SPECTRAL else CipherRecord).parse(record.embedding, EMBEDDING_SOURCE)
    return Provenance(
        options.make(), options.window, arrays, record.options.summed, record.total_passages, record.digests
    )


def check_counts_match(vectors: VectorTable, counts: MergedCounts) -> None:
    """Check that vectors and counts have the same vocabulary.

    Raises:
        BitcipherError: if their vocabularies differ.
    """
    if not vectors.words.equals(counts.vocabulary.words):
        raise BitcipherError(
            f"The counts have {len(counts.vocabulary):,} words and the vectors have {len(vectors):,}, and they are not "
            "the same words in the same order: use the counts that the vectors were made from."
        )
