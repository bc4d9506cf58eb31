"""Memory of tables of modes cat, sum and cipher, and whether they are made in memory."""

from bitcipher.embedding.cipher_embedding import SUMS_BYTES
from pipelines.options import EmbeddingOptions
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.runtime import Runtime

# Share of the free memory of a process for the table and the sums. Counts are read into the rest.
TABLE_SHARE = 0.75

# Number of workers from which on ranges are faster than one process, if the counts are large: pairs are gathered and
# transposed first, which takes several times as much CPU time as adding them up.
MIN_WORKERS = 5


# Bytes of the rank of a word of a segment, and bytes per word of the vocabulary for the lookup of ranks.
RANK_BYTES = 4
INDEX_BYTES = 70


def sums_bytes(words: int, types: int, options: EmbeddingOptions, budget: MemoryBudget) -> int | None:
    """Return the maximum bytes of the sums in memory beside the table; None if the table is made in ranges.

    Args:
        words: size of the vocabulary.
        types: number of words in all segments.
        options: options of the vectors.
        budget: memory of a process.
    """
    table = words * options.estimator().vector_size * 8
    free = int(budget.free_bytes * TABLE_SHARE) - table - types * RANK_BYTES - words * INDEX_BYTES
    return min(SUMS_BYTES, free) if pass_bytes(words, options) <= free else None


def pass_bytes(words: int, options: EmbeddingOptions) -> int:
    """Return the bytes of the sums of the smallest pass over the counts: in mode cat, an offset and its opposite."""
    return words * (options.bits + 1) * 8 * {"cat": 2, "sum": 1, "cipher": 0}[options.mode]


def prefers_ranges(entries: int, budget: MemoryBudget, runtime: Runtime) -> bool:
    """Return whether many workers make a table faster in ranges, although it fits in the memory of one.

    Args:
        entries: number of pairs in all segments.
        budget: memory of a worker.
        runtime: runtime of the stages.
    """
    return runtime.workers >= MIN_WORKERS and entries > budget.weighted_entries
