"""Memory of the processes of a build. Only numbers for words of the vocabulary and for sources grow with the corpus."""

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

# Number of copies of the table of the vocabulary in the driver while it is chosen: the candidates of all ranges, their
# concatenation, the vocabulary, and its sorted copy.
VOCABULARY_TABLES = 5

# Bytes per source in the driver, which lists, hashes and compares all sources.
SOURCE_BYTES = 5_000

# Bytes per word and block in the driver while vectors are made: the sums of a range, and of all ranges so far.
SUM_BYTES = 2 * 8

# Bytes per landmark and column in mode spectral: inputs and outputs of the products in float32, and a copy of both
# while columns are appended.
SPECTRAL_BYTES = 2 * (4 + 4)

# Bytes per word and dimension while n-grams are fitted: vectors of words, and of about as many n-grams, in float32 and
# float16, and the tables of the iteration. Measured: 14 with one thread, 18 with two.
SPELLING_BYTES = 20

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
    """Process of the job, which holds the sources, the vocabulary, and in mode spectral the tables of the landmarks."""
    embed_worker: float
    """Worker that makes vectors: its memory budget, or more if the numbers for each word do not fit."""


def estimate_memory(
    budget: MemoryBudget,
    types: float,
    type_memory: float,
    row_entries: float,
    segment_types: int,
    vocabulary: int,
    sources: int,
    embedding: EmbeddingOptions,
) -> MemoryEstimate:
    """Return the maximum memory of each kind of process.

    Args:
        budget: memory of a worker.
        types: number of distinct words of the corpus.
        type_memory: bytes of memory per word in a table.
        row_entries: number of pairs of the word with the most pairs.
        segment_types: number of words of the largest final segment.
        vocabulary: size of the vocabulary.
        sources: number of sources.
        embedding: options of the vectors.
    """
    limits = budget.range_limits
    summing = LIBRARY_BYTES + min(types, limits.words) * BYTES_PER_SUMMED_WORD
    merging = LIBRARY_BYTES + max(limits.size * BYTES_PER_MERGED, row_entries * BYTES_PER_ENTRY)
    estimator = embedding.estimator()
    blocks = block_count(embedding.window, summed=False)
    ranks = segment_types * SEGMENT_WORD_BYTES + min(segment_types, vocabulary) * FOUND_WORD_BYTES
    embedding_driver = vocabulary * (type_memory + blocks * SUM_BYTES)
    if isinstance(estimator, SpectralEmbedding):
        landmarks = estimator.rows(vocabulary)
        embedding_driver += landmarks * columns_per_product(estimator.vector_size) * PRODUCTS * SPECTRAL_BYTES
        if embedding.spelling_share:
            embedding_driver += min(FIT_WORDS, vocabulary) * estimator.vector_size * SPELLING_BYTES
    least = budget.free_bytes / MIN_SHARE + vocabulary * word_bytes(blocks) + ranks
    return MemoryEstimate(
        count_worker=float(budget.bytes),
        merge_worker=max(summing, merging),
        driver=LIBRARY_BYTES
        + sources * SOURCE_BYTES
        + max(vocabulary * type_memory * VOCABULARY_TABLES, embedding_driver),
        embed_worker=max(float(budget.bytes), LIBRARY_BYTES + least),
    )
