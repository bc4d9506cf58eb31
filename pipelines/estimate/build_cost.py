"""Cost of a build: CPU, time, memory and storage, computed from measured rates and growth laws."""

from dataclasses import dataclass
from math import ceil

from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding
from bitcipher.spelling.spelling import FIT_WORDS
from pipelines.embed.table_memory import sums_bytes
from pipelines.estimate.calibration import Calibration, Rates
from pipelines.estimate.corpus_laws import CorpusLaws
from pipelines.estimate.growth_law import Bound
from pipelines.estimate.memory import MemoryEstimate, count_passes, estimate_memory
from pipelines.estimate.merge_tiers import MergeSize, plan_merges
from pipelines.options import BuildOptions, EmbeddingOptions
from pipelines.runtime.memory_budget import MemoryBudget, RangeLimits

# Requests to an object store to read a small file: for its size, its footer and its content. A larger file takes one
# more request per block. Writing a file takes one request per block, one to begin and one to end.
READ_REQUESTS = 3
WRITE_REQUESTS = 3
BLOCK_BYTES = 8 << 20

# Requests per shard: the size of the source, and the ledger entries of shard and task.
SHARD_REQUESTS = 4

# Files per part of a segment: words, rows and entries.
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
    row_entries: float
    """Number of pairs of the word with the most pairs."""


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
    text_bytes = tokens * calibration.text_per_token
    shards = max(1, ceil(text_bytes / (options.shard_mib << 20)))
    types, entries = laws.types.at(tokens, bound), laws.entries.at(tokens, bound)
    vocabulary = laws.vocabulary(tokens, bound)
    merge_rounds, final_segments = plan_merges(
        shards,
        tokens / shards,
        lambda n: laws.types.at(n, bound),
        lambda n: laws.entries.at(n, bound),
    )
    memory = estimate_memory(
        budget,
        types,
        calibration.type_memory,
        laws.row_entries.at(tokens, bound),
        [segment.types for segment in final_segments],
        vocabulary,
        sources,
        options.embedding,
    )
    node_workers = min(cluster.cores, int(cluster.memory_bytes // max(memory.count_worker, memory.merge_worker)))
    workers = max(1, cluster.nodes * node_workers)
    batches = ceil((text_bytes / shards) / budget.batch_bytes)
    merges = [merge for merges in merge_rounds for merge in merges]
    costs = [[_merge_seconds(merge, rates, budget.range_limits) for merge in merges] for merges in merge_rounds]
    final_entries = sum(segment.entries for segment in final_segments)
    final_types = sum(segment.types for segment in final_segments)
    # Forward and backward, each pair occurs twice.
    product_entries = min(2 * final_entries, laws.landmark_entries.at(tokens, bound))
    embed = _embed_seconds(final_entries, final_types, vocabulary, product_entries, rates, options.embedding, budget)
    cpu = {
        "identify": stored_bytes * rates.stored_byte,
        "count": shards * rates.shard
        + tokens * rates.token
        + _tokenized_chunks(tokens, workers, laws, budget, bound) * rates.chunk
        + (
            shards * batches * laws.entries.at(tokens / shards / batches, bound) * rates.merge_entry
            if batches > 1
            else 0
        ),
        "merge": sum(cost.summing + cost.numbering + cost.merging for round in costs for cost in round),
        "words": final_types * rates.sum_type,
        "embed": embed.alone + embed.shared,
    }
    wall = {
        "identify": cpu["identify"] / workers,
        "count": cpu["count"] / min(workers, shards),
        "merge": sum(_wall_of_round(round, workers) for round in costs),
        "words": cpu["words"] / min(workers, max(1, ceil(final_types / budget.range_limits.words))),
        "embed": embed.alone + embed.shared / workers,
    }

    def stored(entries: float, types: float) -> float:
        return entries * calibration.entry_bytes + types * calibration.type_bytes

    shard_bytes = shards * stored(laws.entries.at(tokens / shards, bound), laws.types.at(tokens / shards, bound))
    merged = [segment for segment in final_segments if segment.tokens > 1.5 * tokens / shards]
    segment_bytes = sum(stored(segment.entries, segment.types) for segment in merged)
    estimator = options.estimator()
    vector_size = estimator.vector_size
    vector_bytes = vocabulary * (4 * vector_size + calibration.type_bytes)
    if isinstance(estimator, SpectralEmbedding):
        # The directions of the landmarks are stored with the vectors, and about as many n-grams as words.
        vector_bytes += estimator.rows(vocabulary) * 4 * vector_size
        ngrams = min(FIT_WORDS, vocabulary) if options.spelling_share else 0
        vector_bytes += ngrams * (NGRAM_VALUE_BYTES * vector_size + NGRAM_HASH_BYTES)
    read = sum(stored(merge.member_entries, merge.member_types) for merge in merges)
    written = sum(stored(merge.entries, merge.types) for merge in merges)
    shard_entries = shards * laws.entries.at(tokens / shards, bound)
    requests = (
        shards * (FILES_PER_PART * WRITE_REQUESTS + SHARD_REQUESTS)
        + (stored_bytes * 2 + shard_bytes + read + written) / BLOCK_BYTES
        + sum(_merge_requests(merge, budget.range_limits) for merge in merges)
    )
    return BuildCost(
        tokens=tokens,
        text_bytes=text_bytes,
        shards=shards,
        types=types,
        entries=entries,
        vocabulary=vocabulary,
        vector_size=vector_size,
        cpu_seconds=cpu,
        workers=workers,
        wall_seconds=wall,
        memory=memory,
        shard_bytes=shard_bytes,
        segment_bytes=segment_bytes,
        vector_bytes=vector_bytes,
        peak_bytes=shard_bytes + written + vector_bytes,
        shuffle_read=read,
        shuffle_written=written,
        rounds=sum(merge.member_entries for merge in merges) / shard_entries,
        requests=requests,
        row_entries=laws.row_entries.at(tokens, bound),
    )


@dataclass(frozen=True)
class _EmbedSeconds:
    """CPU seconds of embedding in one process, and of stages that all workers share."""

    alone: float
    shared: float


def _embed_seconds(
    entries: float,
    types: float,
    vocabulary: int,
    product_entries: float,
    rates: Rates,
    embedding: EmbeddingOptions,
    budget: MemoryBudget,
) -> _EmbedSeconds:
    words, estimator = vocabulary * rates.embed_word, embedding.estimator()
    if isinstance(estimator, SpectralEmbedding):
        # All workers share weighting and products.
        shared = entries * rates.embed_entry + product_entries * rates.product_entry
        spelling = min(FIT_WORDS, vocabulary) * rates.spelling_word if embedding.spelling_share else 0
        return _EmbedSeconds(words + estimator.rows(vocabulary) * rates.landmark + spelling, shared)
    if sums_bytes(vocabulary, int(types), embedding, budget) is None:
        pairs = 0 if embedding.mode == "cipher" else entries * rates.embed_entry * RANGES_COST
        return _EmbedSeconds(0, pairs + words)
    passes = count_passes(vocabulary, int(types), embedding, budget)
    return _EmbedSeconds(
        words + entries * (min(1, passes) * rates.embed_entry + max(0, passes - 1) * rates.walk_entry), 0
    )


@dataclass(frozen=True)
class _MergeSeconds:
    """CPU seconds of the three stages of a merge, and how many ranges of words and of rows they process."""

    summing: float
    numbering: float
    merging: float
    word_ranges: int
    ranges: int


def _wall_of_round(merges: list[_MergeSeconds], workers: int) -> float:
    """Return the wall time of merges that run together: first all words, then their numbers, then all rows."""
    word_ranges = sum(merge.word_ranges for merge in merges)
    return sum(merge.summing + merge.numbering for merge in merges) / min(workers, word_ranges) + sum(
        merge.merging for merge in merges
    ) / min(workers, sum(merge.ranges for merge in merges))


def _merge_seconds(merge: MergeSize, rates: Rates, limits: RangeLimits) -> _MergeSeconds:
    ranges = _range_count(merge, limits)
    again = (ranges - 1) * merge.member_types * rates.number_again
    return _MergeSeconds(
        summing=merge.member_types * rates.sum_type,
        numbering=(merge.member_types + merge.types) * rates.number_type,
        merging=merge.member_entries * rates.merge_entry + again,
        word_ranges=max(1, ceil(merge.member_types / limits.words)),
        ranges=ranges,
    )


def _range_count(merge: MergeSize, limits: RangeLimits) -> int:
    return ceil(merge.member_entries * SIZE_PER_ENTRY / limits.size)


def _merge_requests(merge: MergeSize, limits: RangeLimits) -> float:
    """Return the number of requests of a merge.

    The words of each member are read twice, its numbers are written once, and all its files are read for each range.
    """
    ranges = _range_count(merge, limits)
    members = merge.members * (2 * READ_REQUESTS + WRITE_REQUESTS)
    return members + ranges * (merge.members * FILES_PER_PART * READ_REQUESTS + FILES_PER_PART * WRITE_REQUESTS)


def _tokenized_chunks(tokens: float, workers: int, laws: CorpusLaws, budget: MemoryBudget, bound: Bound) -> float:
    """Return the number of chunks that miss the tokenizer caches of all workers. A worker clears a full cache."""
    each = tokens / workers
    cycle = laws.chunks.tokens_at(budget.chunks, bound)
    return workers * (each // cycle * budget.chunks + laws.chunks.at(each % cycle, bound))
