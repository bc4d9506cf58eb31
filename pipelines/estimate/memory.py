"""What processes hold in memory, as the code is: words are what grows, since each process has all of them."""

from dataclasses import dataclass

from bitcipher.embedding.cipher_embedding import SUMS_BYTES
from bitcipher.embedding.spectral.spectral_embedding import PRODUCTS, columns_per_product
from pipelines.options import SPECTRAL, EmbeddingOptions
from pipelines.runtime.memory_budget import BYTES_PER_ENTRY, LIBRARY_BYTES, MemoryBudget

# Who adds up words (`merge_words`), a worker for a merge and the driver in the end, holds the table of them so many
# times: what is added up so far, the segments' own, Arrow's groups, and the sorted copy. Measured: 7 to 9.4, with 2
# million words of 3 to 16 segments.
SUM_TABLES = 9.5

# A worker that numbers a segment's words holds all merged ones, Arrow's index of them, and those of the segment:
# measured, 3.3 to 4 times the table.
NUMBER_TABLES = 4

# Beside the table of words, to a word: the number (4), its place (8), the dense totals (8), and a member's number (4).
MERGE_BYTES_OF_TYPE = 24

# Of a dimension of a word, in the process that makes vectors: float64, then float32, and that once more as it is
# written.
EMBED_BYTES = 8 + 4 + 4

# Mode spectral: of a column of a word, what went into the products and what came out, in float32, and both once more
# as columns are added.
SPECTRAL_BYTES = 2 * (4 + 4)

# While vectors are made, to a word of a segment: its rank. And to one of the largest segment, beside the table: the
# index by which its ranks are found.
RANK_BYTES = 4
INDEX_BYTES = 70


@dataclass(frozen=True)
class Memory:
    """Bytes that each kind of process holds at most."""

    count_worker: float
    """Its budget, which it keeps to."""
    merge_worker: float
    driver: float
    embed_worker: float


def memory_of(
    budget: MemoryBudget,
    types: float,
    type_memory: float,
    row_entries: float,
    segment_types: list[int],
    vocabulary: int,
    embedding: EmbeddingOptions,
) -> Memory:
    """The memory of a build.

    Args:
        budget: of a worker.
        types: words of the whole corpus.
        type_memory: bytes of a word in a table.
        row_entries: pairs of the word that has most.
        segment_types: words of each live segment.
        vocabulary: words that have vectors.
        embedding: what vectors.
    """
    summing = LIBRARY_BYTES + types * type_memory * SUM_TABLES
    numbering = LIBRARY_BYTES + types * type_memory * NUMBER_TABLES
    held = types * (type_memory + MERGE_BYTES_OF_TYPE)
    merging = LIBRARY_BYTES + held + max(budget.range_entries, row_entries) * BYTES_PER_ENTRY
    if embedding.mode == SPECTRAL:
        table = vocabulary * columns_per_product(embedding.vector_size) * PRODUCTS * SPECTRAL_BYTES
    else:
        table = vocabulary * embedding.estimator().vector_size * EMBED_BYTES
    ranks = sum(segment_types) * RANK_BYTES + max(segment_types, default=0) * (type_memory + INDEX_BYTES)
    return Memory(
        count_worker=float(budget.bytes),
        merge_worker=max(summing, numbering, merging),
        driver=summing,
        embed_worker=LIBRARY_BYTES + table + sums_bytes(vocabulary, embedding) + ranks,
    )


def sums_bytes(vocabulary: int, embedding: EmbeddingOptions) -> int:
    """Bytes of the sums that are held at once while vectors are made."""
    offset = 2 * vocabulary * (embedding.bits + 1) * 8
    if embedding.mode == "sum":
        return offset // 2
    return max(offset, min(SUMS_BYTES, embedding.window * offset)) if embedding.mode == "cat" else 0


def walks(vocabulary: int, embedding: EmbeddingOptions) -> int:
    """How often all pairs are read to make vectors: more than once if the sums of all offsets are too large."""
    if embedding.mode != "cat":
        return 0 if embedding.mode == "cipher" else 1
    offset = 2 * max(1, vocabulary) * (embedding.bits + 1) * 8
    return -(-embedding.window // max(1, SUMS_BYTES // offset))
