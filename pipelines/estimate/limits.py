"""Limits of bitcipher and of the cluster that a build reaches, and remedies."""

from collections.abc import Iterable
from itertools import islice

from bitcipher.sizes import format_size
from pipelines.estimate.build_cost import BuildCost, Cluster
from pipelines.estimate.sample import SAMPLE_SOURCES, SampledRecords
from pipelines.options import SPECTRAL, BuildOptions

# Maximum number of words, because their numbers are int32.
MAX_TYPES = 2**31 - 1


def limits_reached(cost: BuildCost, options: BuildOptions, cluster: Cluster) -> dict[str, str]:
    """Return a sentence for each limit that a build reaches, by the name of the limit."""
    memory, node = cost.memory, cluster.memory_bytes
    sentences = {}
    if cost.types > MAX_TYPES:
        sentences["types"] = (
            f"{cost.types:,.0f} words are more than 32-bit numbers allow ({MAX_TYPES:,}): make several builds. "
            "A higher --min-count does not help, because counts include all words; a tokenizer.json of subwords does."
        )
    if memory.driver > node:
        sentences["driver"] = (
            f"The driver holds the vocabulary, about {format_size(memory.driver)}, and a node has "
            f"{format_size(node)}: use a higher --min-count or a --max-vocab-size, or run the driver on a larger node."
        )
    if memory.merge_worker > node:
        sentences["merge"] = (
            f"A worker that merges needs about {format_size(memory.merge_worker)}, and a node has {format_size(node)}: "
            "use larger nodes."
        )
    node_workers = max(1, cost.workers // cluster.nodes)
    if memory.embed_worker * node_workers > node:
        sentences["embed"] = (
            "Each worker that makes vectors holds numbers for all words, and all pairs of a word, about "
            f"{format_size(memory.embed_worker)}, and a node with {node_workers} workers has {format_size(node)}: use "
            "a higher --min-count, a --max-vocab-size, fewer --workers, or larger nodes."
        )
    bits = options.bits
    if cost.vocabulary >= 2**bits and options.mode != SPECTRAL:
        sentences["bits"] = (
            f"{cost.vocabulary:,} words do not fit into {bits} bits, which encode {2**bits - 1:,} words: use "
            f"--bits {cost.vocabulary.bit_length()}, a higher --min-count or a --max-vocab-size."
        )
    return sentences


def bad_record_limits(records: Iterable[SampledRecords], max_bad_share: float) -> list[str]:
    """Return a sentence for each of the first sampled files whose share of bad records is above the maximum."""
    sentences = (
        f"{each.bad:,} of the first {each.read:,} records of {each.uri} are bad ({each.bad / each.read:.1%}), and a "
        f"build fails if a whole file has a share above --max-bad-share {max_bad_share}: correct the file, or use a "
        f"higher share. The first bad record: {each.example}"
        for each in records
        if each.bad > max_bad_share * each.read
    )
    return list(islice(sentences, SAMPLE_SOURCES))
