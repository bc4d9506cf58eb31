"""Counting and merging, exact (SPEC 2)."""

from bitcipher.counts.merge import merge_rows, renumber
from bitcipher.counts.merged import MergedCounts
from bitcipher.counts.pairs import PairBlock, PairReader, concatenate, read_run, split, write_pairs
from bitcipher.counts.shard import ShardCounts, count_shard
from bitcipher.counts.tokens import TokenisedShard
from bitcipher.counts.window import Window

__all__ = [
    "MergedCounts",
    "PairBlock",
    "PairReader",
    "ShardCounts",
    "TokenisedShard",
    "Window",
    "concatenate",
    "count_shard",
    "merge_rows",
    "read_run",
    "renumber",
    "split",
    "write_pairs",
]
