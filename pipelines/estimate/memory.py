"""Memory of the processes of a build. Merging has fixed bounds; making vectors grows with the vocabulary."""

from dataclasses import dataclass

from bitcipher.embedding.cipher_embedding import SUMS_BYTES
from bitcipher.embedding.spectral.spectral_embedding import PRODUCTS, SpectralEmbedding, columns_per_product
from pipelines.options import EmbeddingOptions
from pipelines.runtime.memory_budget import BYTES_PER_ENTRY, BYTES_PER_SUMMED_WORD, LIBRARY_BYTES, MemoryBudget

# Number of copies of the table of the vocabulary in the driver while it is chosen: the candidates of all ranges, their
# concatenation, the vocabulary, and its sorted copy.
VOCABULARY_TABLES = 5

# Bytes per word and dimension in the process that makes vectors: modes cat and sum have float64, float32, and a float32
# copy for writing; mode spectral has four tables in float32.
EMBED_BYTES = 8 + 4 + 4

# Bytes per landmark and column in mode spectral: inputs and outputs of the products in float32, and a copy of both
# while columns are appended.
SPECTRAL_BYTES = 2 * (4 + 4)

# Bytes per word of a segment in the process that makes vectors: the rank; for the segment that is read, also a number
# and a rank in the order of the words.
RANK_BYTES = 4
READ_BYTES = 8
# Bytes per word of the vocabulary for the lookup of ranks.
INDEX_BYTES = 70


@dataclass(frozen=True)
class MemoryEstimate:
    """Maximum bytes of memory of each kind of process."""

    count_worker: float
    """Worker that counts: its memory budget."""
    merge_worker: float
    """Worker that merges segments."""
    driver: float
    """Process of the job, which holds the vocabulary."""
    embed_worker: float
    """Process that makes the vectors."""


def estimate_memory(
    budget: MemoryBudget,
    types: float,
    type_memory: float,
    row_entries: float,
    segment_types: list[int],
    vocabulary: int,
    embedding: EmbeddingOptions,
) -> MemoryEstimate:
    """Return the maximum memory of each kind of process.

    Args:
        budget: memory of a worker.
        types: number of distinct words of the corpus.
        type_memory: bytes of memory per word in a table.
        row_entries: number of pairs of the word with the most pairs.
        segment_types: number of words of each final segment.
        vocabulary: size of the vocabulary.
        embedding: options of the vectors.
    """
    limits = budget.range_limits
    summing = LIBRARY_BYTES + min(types, limits.words) * BYTES_PER_SUMMED_WORD
    merging = LIBRARY_BYTES + max(limits.entries, row_entries) * BYTES_PER_ENTRY
    estimator = embedding.estimator()
    table = vocabulary * estimator.vector_size * EMBED_BYTES
    if isinstance(estimator, SpectralEmbedding):
        table += estimator.rows(vocabulary) * columns_per_product(estimator.vector_size) * PRODUCTS * SPECTRAL_BYTES
    ranks = sum(segment_types) * RANK_BYTES + max(segment_types, default=0) * READ_BYTES + vocabulary * INDEX_BYTES
    return MemoryEstimate(
        count_worker=float(budget.bytes),
        merge_worker=max(summing, merging),
        driver=LIBRARY_BYTES + vocabulary * type_memory * VOCABULARY_TABLES,
        embed_worker=LIBRARY_BYTES + table + sums_bytes(vocabulary, embedding) + ranks,
    )


def sums_bytes(vocabulary: int, embedding: EmbeddingOptions) -> int:
    """Return the bytes of the sums in memory while vectors are made."""
    offset = 2 * vocabulary * (embedding.bits + 1) * 8
    if embedding.mode == "sum":
        return offset // 2
    return max(offset, min(SUMS_BYTES, embedding.window * offset)) if embedding.mode == "cat" else 0


def count_passes(vocabulary: int, embedding: EmbeddingOptions) -> int:
    """Return the number of passes over all pairs. Mode cat needs several if the sums of all offsets are too large."""
    if embedding.mode != "cat":
        return 0 if embedding.mode == "cipher" else 1
    offset = 2 * max(1, vocabulary) * (embedding.bits + 1) * 8
    return -(-embedding.window // max(1, SUMS_BYTES // offset))
