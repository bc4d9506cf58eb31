"""Exact counting of words and pairs, their files (segments), merging, and digests."""

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.digest import CountDigest, digest_pairs, digest_words, word_hashes
from bitcipher.counts.merge import merge_rows, negate, renumber
from bitcipher.counts.merged_counts import MergedCounts, PartialCounts
from bitcipher.counts.merged_segments import iter_merged_rows, open_merged, ranks_of
from bitcipher.counts.pairs import (
    PairBlock,
    concatenate,
    iter_pairs,
    limit_window,
    read_row_range,
    select_pairs,
    select_rows,
    split,
    write_pairs,
)
from bitcipher.counts.row_ranges import RowRange, find_row_ranges
from bitcipher.counts.segment import (
    SEGMENT_WORDS,
    part_files,
    read_pair_hashes,
    read_words,
    remove_part,
    word_numbers,
    write_part,
)
from bitcipher.counts.segment_digest import digest_segment
from bitcipher.counts.segment_words import cut_ranges, merge_words, sum_words
from bitcipher.counts.shard_counts import PASSAGE_TOKENS, ShardCounts, count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.counts.vocabulary_file import VocabularyFile

__all__ = [
    "PASSAGE_TOKENS",
    "SEGMENT_WORDS",
    "ContextWindow",
    "CountDigest",
    "MergedCounts",
    "PairBlock",
    "PartialCounts",
    "RowRange",
    "ShardCounts",
    "TokenizedShard",
    "VocabularyFile",
    "concatenate",
    "count_shard",
    "cut_ranges",
    "digest_pairs",
    "digest_segment",
    "digest_words",
    "find_row_ranges",
    "iter_merged_rows",
    "iter_pairs",
    "limit_window",
    "merge_rows",
    "merge_words",
    "negate",
    "open_merged",
    "part_files",
    "ranks_of",
    "read_pair_hashes",
    "read_row_range",
    "read_words",
    "remove_part",
    "renumber",
    "select_pairs",
    "select_rows",
    "split",
    "sum_words",
    "word_hashes",
    "word_numbers",
    "write_pairs",
    "write_part",
]
