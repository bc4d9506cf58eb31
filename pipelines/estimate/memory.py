"""Memory of the processes of a build.

Only numbers for words of the vocabulary, for sources and for shards grow with the corpus, and up to the vocabulary the
pairs of one word while vectors are made.
"""

from dataclasses import dataclass

from bitcipher.embedding.spectral.ppmi import block_count
from bitcipher.embedding.spectral.spectral_embedding import PRODUCTS, SpectralEmbedding, columns_per_product
from bitcipher.spelling.spelling import FIT_WORDS
from pipelines.embed.spectral.word_ranges import MIN_SHARE, word_bytes
from pipelines.options import EmbeddingOptions
from pipelines.runtime.memory_budget import (
    BYTES_PER_ENTRY,
    BYTES_PER_MERGED,
    BYTES_PER_SUMMED_WORD,
    LIBRARY_BYTES,
    MemoryBudget,
)

# Bytes of memory of a driver on Ray before any work. Measured: 316 MiB, half of it pages of library files.
DRIVER_LIBRARY_BYTES = 330 << 20

# Number of copies of the table of the vocabulary in the driver while it is chosen: the candidates of all ranges, their
# concatenation, the vocabulary and its sorted copy. Measured: 180 bytes per word, where a table has 46.
VOCABULARY_TABLES = 4

# Number of copies of this table while vectors are made: the vocabulary, and the shared memory of the candidates, which
# Ray's object store keeps for later objects.
KEPT_TABLES = 2

# Bytes per source in the driver, which lists, hashes and compares all sources.
SOURCE_BYTES = 3_000

# Bytes per shard in the driver: the records of the shard and of its task, while they are read and written.
SHARD_BYTES = 4_000

# Bytes per word and block in the driver while vectors are made: the marginals of the words. A row that is read, and
# word numbers, take as much as another block.
SUM_BYTES = 8

# Bytes per landmark and column in mode spectral: inputs and outputs of the products in float32.
SPECTRAL_BYTES = 2 * 4

# Bytes per word and dimension, and per word, while n-grams are fitted: vectors of words and of about as many n-grams,
# in float32 and float16, and the tables of the iteration; lists of n-grams. Measured: 337 MB with 200 dimensions.
SPELLING_BYTES = 11
NGRAM_BYTES = 1_300

# Bytes per word of the segment that a worker reads, and per word of the vocabulary in this segment, while its ranks are
# found: three bits and positions; a number and three ranks (`bitcipher.counts.segment_ranks.SegmentRanks`).
SEGMENT_WORD_BYTES = 0.5
FOUND_WORD_BYTES = 4 * 4


@dataclass(frozen=True)
class MemoryEstimate:
    """Maximum bytes of memory of each kind of process."""

    count_worker: float
    """Worker that counts: its memory budget."""
    merge_worker: float
    """Worker that merges segments."""
    driver: float
    """Process of the job, which holds the sources, the records of shards, the vocabulary, and in mode spectral the
    tables of the landmarks."""
    embed_worker: float
    """Worker that makes vectors: its memory budget, or more if the numbers for each word, and the pairs of the word
    with the most pairs, do not fit."""


def estimate_memory(
    budget: MemoryBudget,
    types: float,
    type_memory: float,
    row_entries: float,
    segment_types: int,
    vocabulary: int,
    sources: int,
    shards: int,
    embedding: EmbeddingOptions,
) -> MemoryEstimate:
    """Return the maximum memory of each kind of process.

    Args:
        budget: memory of a worker.
        types: number of distinct words of the corpus.
        type_memory: bytes of memory per word in a table.
        row_entries: number of pairs of the word with the most pairs, also with words outside the vocabulary.
        segment_types: number of words of the largest final segment.
        vocabulary: size of the vocabulary.
        sources: number of sources.
        shards: number of shards.
        embedding: options of the vectors.
    """
    limits = budget.range_limits
    summing = LIBRARY_BYTES + min(types, limits.words) * BYTES_PER_SUMMED_WORD
    merging = LIBRARY_BYTES + limits.size * BYTES_PER_MERGED
    estimator = embedding.estimator()
    blocks = block_count(embedding.window, summed=False)
    fitting = 0.0
    if isinstance(estimator, SpectralEmbedding):
        landmarks = estimator.rows(vocabulary)
        fitting += landmarks * columns_per_product(estimator.vector_size) * PRODUCTS * SPECTRAL_BYTES
        if embedding.spelling_share:
            fitting += min(FIT_WORDS, vocabulary) * (estimator.vector_size * SPELLING_BYTES + NGRAM_BYTES)
    word_sums = KEPT_TABLES * type_memory + (blocks + 1) * SUM_BYTES
    embedding_driver = vocabulary * word_sums + fitting
    # All pairs of a word are weighted together, forward and backward. They are pairs of words of the vocabulary.
    largest_word = 2 * min(row_entries, embedding.window * vocabulary) * BYTES_PER_ENTRY
    ranks = segment_types * SEGMENT_WORD_BYTES + min(segment_types, vocabulary) * FOUND_WORD_BYTES
    least = max(budget.free_bytes / MIN_SHARE, largest_word) + vocabulary * word_bytes(blocks) + ranks
    return MemoryEstimate(
        count_worker=float(budget.bytes),
        merge_worker=max(summing, merging),
        driver=DRIVER_LIBRARY_BYTES
        + sources * SOURCE_BYTES
        + shards * SHARD_BYTES
        + max(vocabulary * type_memory * VOCABULARY_TABLES, embedding_driver),
        embed_worker=max(float(budget.bytes), LIBRARY_BYTES + least),
    )
