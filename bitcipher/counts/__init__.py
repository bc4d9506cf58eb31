"""Counting and merging, exact (SPEC 2)."""

from bitcipher.counts.digest import CountDigest, digest_pairs, digest_words, word_hashes
from bitcipher.counts.merge import merge_rows, negate, renumber
from bitcipher.counts.merged import MergedCounts, Part
from bitcipher.counts.pairs import (
    PairBlock,
    concatenate,
    read_run,
    split,
    walk_pairs,
    within,
    write_pairs,
)
from bitcipher.counts.segment import SEGMENT_WORDS, part_files, read_words, remove_part, write_part
from bitcipher.counts.shard import DOCUMENT_SLICE_TOKENS, ShardCounts, count_shard
from bitcipher.counts.tokens import TokenisedShard
from bitcipher.counts.window import Window

__all__ = [
    "DOCUMENT_SLICE_TOKENS",
    "SEGMENT_WORDS",
    "CountDigest",
    "MergedCounts",
    "PairBlock",
    "Part",
    "ShardCounts",
    "TokenisedShard",
    "Window",
    "concatenate",
    "count_shard",
    "digest_pairs",
    "digest_words",
    "merge_rows",
    "negate",
    "part_files",
    "read_run",
    "read_words",
    "remove_part",
    "renumber",
    "split",
    "walk_pairs",
    "within",
    "word_hashes",
    "write_pairs",
    "write_part",
]
