"""Memory of the processes of a build. It grows with the number of words, because each process holds all words."""

from dataclasses import dataclass

from bitcipher.embedding.cipher_embedding import SUMS_BYTES
from bitcipher.embedding.spectral.spectral_embedding import PRODUCTS, SpectralEmbedding, columns_per_product
from pipelines.options import EmbeddingOptions
from pipelines.runtime.memory_budget import BYTES_PER_ENTRY, LIBRARY_BYTES, MemoryBudget

# Number of copies of the table of words in a process that adds up words (`merge_words`), a worker or the driver: the
# sum so far, the words of the segments, Arrow's groups, and the sorted copy. Measured: 7 to 9.4, with 2 million words
# of 3 to 16 segments.
SUM_TABLES = 9.5

# Number of copies of the table in a worker that numbers the words of a segment: all merged words, Arrow's index of
# them, and the words of the segment. Measured: 3.3 to 4.
NUMBER_TABLES = 4

# Bytes per word in a merging worker, in addition to the table: number (4), position (8), dense totals (8), and number
# in an operand (4).
MERGE_BYTES_PER_TYPE = 24

# Bytes per word and dimension in the process that makes vectors: modes cat and sum have float64, float32, and a float32
# copy for writing; mode spectral has four tables in float32.
EMBED_BYTES = 8 + 4 + 4

# Bytes per landmark and column in mode spectral: inputs and outputs of the products in float32, and a copy of both
# while columns are appended.
SPECTRAL_BYTES = 2 * (4 + 4)

# Bytes per word of a segment in the process that makes vectors: the rank. The largest segment also needs an index for
# the lookup of ranks.
RANK_BYTES = 4
INDEX_BYTES = 70


@dataclass(frozen=True)
class MemoryEstimate:
    """Maximum bytes of memory of each kind of process."""

    count_worker: float
    """Worker that counts: its memory budget."""
    merge_worker: float
    """Worker that merges segments."""
    driver: float
    """Process of the job, which adds up the words of all segments."""
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
    summing = LIBRARY_BYTES + types * type_memory * SUM_TABLES
    numbering = LIBRARY_BYTES + types * type_memory * NUMBER_TABLES
    held = types * (type_memory + MERGE_BYTES_PER_TYPE)
    merging = LIBRARY_BYTES + held + max(budget.range_entries, row_entries) * BYTES_PER_ENTRY
    estimator = embedding.estimator()
    table = vocabulary * estimator.vector_size * EMBED_BYTES
    if isinstance(estimator, SpectralEmbedding):
        table += estimator.rows(vocabulary) * columns_per_product(estimator.vector_size) * PRODUCTS * SPECTRAL_BYTES
    ranks = sum(segment_types) * RANK_BYTES + max(segment_types, default=0) * (type_memory + INDEX_BYTES)
    return MemoryEstimate(
        count_worker=float(budget.bytes),
        merge_worker=max(summing, numbering, merging),
        driver=summing,
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
