"""Cost of a build: CPU, time, memory and storage, computed from measured rates and growth laws."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from bitcipher.embedding.spectral.ppmi import block_count
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding
from bitcipher.spelling.spelling import FIT_WORDS
from pipelines.embed.table_memory import sums_bytes
from pipelines.estimate.calibrate import Calibration, Rates
from pipelines.estimate.corpus_laws import CorpusLaws
from pipelines.estimate.embed_trial import weighted_pairs
from pipelines.estimate.growth_law import Bound
from pipelines.estimate.memory import MemoryEstimate, estimate_memory
from pipelines.estimate.merge_tiers import plan_merges
from pipelines.options import BuildOptions
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.store.segments import Segment

# Requests to an object store to read a small file (for its size, its footer and its content) or to write it. A larger
# file takes one more request per block.
FILE_REQUESTS = 3
BLOCK_BYTES = 8 << 20

# Requests per shard: the size of the source, and the ledger entries of shard and task.
SHARD_REQUESTS = 4

# Files per part of a segment: words, rows and entries. Each range of a merge makes a part.
FILES_PER_PART = 3

# Rows and entries (stored pairs) per entry: in text, a row has about four entries.
SIZE_PER_ENTRY = 1.25

# Stored bytes of an n-gram: per dimension, and of its hash.
NGRAM_VALUE_BYTES = 2
NGRAM_HASH_BYTES = 8

# CPU time of sums in ranges, relative to sums in memory: pairs are gathered from all segments and transposed first.
RANGES_COST = 2


@dataclass(frozen=True)
class Cluster:
    """A cluster of equal machines."""

    nodes: int
    """Number of machines."""
    cores: int
    """Cores per machine."""
    memory_bytes: float
    """Bytes of memory per machine."""


@dataclass(frozen=True)
class BuildCost:
    """Estimated cost of a build."""

    tokens: float
    """Number of tokens of the corpus."""
    text_bytes: float
    """Bytes of text of the corpus."""
    shards: int
    """Number of shards."""
    types: float
    """Number of distinct words."""
    entries: float
    """Number of distinct pairs."""
    vocabulary: int
    """Number of words of the vocabulary."""
    vector_size: int
    """Number of dimensions of the vectors."""
    cpu_seconds: dict[str, float]
    """CPU seconds of each stage: identify, count, merge, words and embed."""
    workers: int
    """Number of workers that run at the same time, limited by the cores and the memory of the cluster."""
    wall_seconds: dict[str, float]
    """Wall time of each stage in seconds."""
    memory: MemoryEstimate
    shard_bytes: float
    """Bytes of the shards, which are kept with the build."""
    segment_bytes: float
    """Bytes of the merged segments of the version."""
    vector_bytes: float
    """Bytes of the vectors and the vocabulary of a version."""
    peak_bytes: float
    """Maximum number of stored bytes while the job runs. Segments that were merged are removed at the end."""
    shuffle_read: float
    """Bytes that merges read."""
    shuffle_written: float
    """Bytes that merges write."""
    rounds: float
    """Average number of times that a pair is merged."""
    requests: float
    """Number of requests to the object store."""


def estimate_cost(
    tokens: float,
    stored_bytes: float,
    sources: int,
    calibration: Calibration,
    laws: CorpusLaws,
    options: BuildOptions,
    cluster: Cluster,
    bound: Bound = Bound.POINT,
) -> BuildCost:
    """Return the cost of a build.

    Args:
        tokens: number of tokens of the corpus.
        stored_bytes: size of the files of the corpus in bytes.
        sources: number of files, as far as it is known.
        calibration: measurements of similar text.
        laws: growth laws of similar text.
        options: options of the build.
        cluster: the cluster that makes the build.
        bound: whether to use the lower end, the expected value or the upper end of the predicted sizes.
    """
    rates, budget = calibration.rates, MemoryBudget(options.memory_mib)
    limits = budget.range_limits

    def types_at(tokens: float) -> float:
        return laws.types.at(tokens, bound)

    def entries_at(tokens: float) -> float:
        return laws.entries.at(tokens, bound)

    def stored(types: float, entries: float) -> float:
        return types * calibration.type_bytes + entries * calibration.entry_bytes

    text_bytes = tokens * calibration.text_per_token
    shards = max(1, ceil(text_bytes / (options.shard_mib << 20)))
    shard_tokens = tokens / shards
    shard_entries = shards * entries_at(shard_tokens)
    vocabulary = laws.vocabulary(tokens, bound)
    merges, segments = plan_merges(shards, shard_tokens, types_at, entries_at)
    merged_entries = sum(merge.total("entries") for merge, _ in merges)
    merged_types = sum(merge.total("types") for merge, _ in merges)
    written = sum(stored(merged.types, merged.entries) for _, merged in merges)
    final_types = sum(segment.types for segment in segments)
    memory = estimate_memory(
        budget,
        types_at(tokens),
        calibration.type_memory,
        laws.row_entries.at(tokens, bound),
        max(segment.types for segment in segments),
        vocabulary,
        sources,
        shards,
        options.embedding,
    )
    node_workers = min(cluster.cores, int(cluster.memory_bytes // max(memory.count_worker, memory.merge_worker)))
    workers = max(1, cluster.nodes * node_workers)
    batches = ceil(text_bytes / shards / budget.batch_bytes)
    batch_entries = shards * batches * entries_at(shard_tokens / batches) if batches > 1 else 0.0
    chunks = _tokenized_chunks(tokens, workers, laws, budget, bound)
    alone, shared = _embed_seconds(segments, vocabulary, laws.landmark_entries.at(tokens, bound), rates, options)
    cpu = {
        "identify": stored_bytes * rates.stored_byte,
        "count": shards * rates.shard + tokens * rates.token + chunks * rates.chunk + batch_entries * rates.merge_entry,
        "merge": merged_entries * rates.merge_entry + merged_types * rates.merge_type,
        "words": final_types * rates.sum_type,
        "embed": alone + shared,
    }
    wall = {
        "identify": cpu["identify"] / workers,
        "count": cpu["count"] / min(workers, shards),
        "merge": cpu["merge"] / workers,
        "words": cpu["words"] / min(workers, max(1, ceil(final_types / limits.words))),
        "embed": alone + shared / workers,
    }
    read = stored(merged_types, merged_entries)
    shard_bytes = stored(shards * types_at(shard_tokens), shard_entries)
    merged_segments = [segment for segment in segments if segment.tokens > 1.5 * shard_tokens]
    # Each range of a merge reads all files of the members, and writes a part.
    ranges = [(len(merge.members), ceil(merge.total("entries") * SIZE_PER_ENTRY / limits.size)) for merge, _ in merges]
    files = FILES_PER_PART * (shards + sum((members + 1) * number for members, number in ranges))
    vector_bytes = _vector_bytes(vocabulary, calibration.type_bytes, options)
    return BuildCost(
        tokens=tokens,
        text_bytes=text_bytes,
        shards=shards,
        types=types_at(tokens),
        entries=entries_at(tokens),
        vocabulary=vocabulary,
        vector_size=options.estimator().vector_size,
        cpu_seconds=cpu,
        workers=workers,
        wall_seconds=wall,
        memory=memory,
        shard_bytes=shard_bytes,
        segment_bytes=sum(stored(segment.types, segment.entries) for segment in merged_segments),
        vector_bytes=vector_bytes,
        peak_bytes=shard_bytes + written + vector_bytes,
        shuffle_read=read,
        shuffle_written=written,
        rounds=merged_entries / shard_entries,
        requests=shards * SHARD_REQUESTS
        + files * FILE_REQUESTS
        + (stored_bytes * 2 + shard_bytes + read + written) / BLOCK_BYTES,
    )


def _embed_seconds(
    segments: list[Segment], vocabulary: int, landmark_entries: float, rates: Rates, options: BuildOptions
) -> tuple[float, float]:
    """Return the CPU seconds of embedding in one process, and of stages that all workers share."""
    entries, types = (sum(getattr(segment, name) for segment in segments) for name in ("entries", "types"))
    words, estimator = vocabulary * rates.embed_word, options.estimator()
    if isinstance(estimator, SpectralEmbedding):
        # Forward and backward, each pair occurs twice.
        pairs = weighted_pairs(2 * entries, vocabulary) * rates.embed_entry
        landmark_pairs = weighted_pairs(min(2 * entries, landmark_entries), estimator.rows(vocabulary))
        alone = words + min(FIT_WORDS, vocabulary) * rates.fitted_word
        return alone, pairs + landmark_pairs * rates.product_entry
    pairs = entries * rates.embed_entry
    if sums_bytes(vocabulary, types, options.embedding, MemoryBudget(options.memory_mib)) is None:
        return 0.0, pairs * RANGES_COST + words
    return pairs + words, 0.0


def _vector_bytes(vocabulary: int, type_bytes: float, options: BuildOptions) -> float:
    """Return the stored bytes of the vectors and the vocabulary of a version."""
    estimator = options.estimator()
    row_bytes = 4 * estimator.vector_size
    if not isinstance(estimator, SpectralEmbedding):
        return vocabulary * (row_bytes + type_bytes)
    # The directions of the landmarks are stored with the vectors, and those of the context words in each block, in 16
    # bits, with the marginals. There are about as many n-grams as words.
    blocks = block_count(options.window, options.summed)
    used = int(np.count_nonzero(estimator.scales(blocks)))
    context_bytes = used * estimator.contexts(vocabulary) * (2 * estimator.vector_size + 4) + 8 * blocks * vocabulary
    ngrams = min(FIT_WORDS, vocabulary) if options.spelling_share else 0
    ngram_bytes = ngrams * (NGRAM_VALUE_BYTES * estimator.vector_size + NGRAM_HASH_BYTES)
    words = vocabulary * (row_bytes + type_bytes) + estimator.rows(vocabulary) * row_bytes
    return words + context_bytes + ngram_bytes


def _tokenized_chunks(tokens: float, workers: int, laws: CorpusLaws, budget: MemoryBudget, bound: Bound) -> float:
    """Return the number of chunks that miss the tokenizer caches of all workers. A worker clears a full cache."""
    each = tokens / workers
    cycle = laws.chunks.tokens_at(budget.chunks, bound)
    return workers * (each // cycle * budget.chunks + laws.chunks.at(each % cycle, bound))
