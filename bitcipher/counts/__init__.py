"""Exact counting of words and pairs, their files (segments), merging, and digests."""

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.digest import CountDigest, digest_pairs, digest_words, word_hashes
from bitcipher.counts.merge import merge_rows, negate, renumber
from bitcipher.counts.merged_counts import MergedCounts, PartialCounts
from bitcipher.counts.pairs import (
    PairBlock,
    concatenate,
    iter_pairs,
    limit_window,
    read_row_range,
    split,
    write_pairs,
)
from bitcipher.counts.segment import SEGMENT_WORDS, part_files, read_words, remove_part, write_part
from bitcipher.counts.shard_counts import PASSAGE_TOKENS, ShardCounts, count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard

__all__ = [
    "PASSAGE_TOKENS",
    "SEGMENT_WORDS",
    "ContextWindow",
    "CountDigest",
    "MergedCounts",
    "PairBlock",
    "PartialCounts",
    "ShardCounts",
    "TokenizedShard",
    "concatenate",
    "count_shard",
    "digest_pairs",
    "digest_words",
    "iter_pairs",
    "limit_window",
    "merge_rows",
    "negate",
    "part_files",
    "read_row_range",
    "read_words",
    "remove_part",
    "renumber",
    "split",
    "word_hashes",
    "write_pairs",
    "write_part",
]
