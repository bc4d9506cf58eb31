"""Exact counting of words and pairs, their files (segments), merging, and digests."""

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.digest import CountDigest, digest_pairs, digest_words, word_hashes
from bitcipher.counts.merge import merge_rows, negate, renumber
from bitcipher.counts.merged_counts import MergedCounts, PartialCounts
from bitcipher.counts.merged_segments import iter_merged_rows, open_merged
from bitcipher.counts.number_set import NumberSet
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
from bitcipher.counts.row_ranges import LocatedRanges, RowRange, find_row_ranges, locate_ranges
from bitcipher.counts.segment import (
    SEGMENT_WORDS,
    check_numbers,
    iter_words,
    part_files,
    read_pair_hashes,
    read_words,
    remove_part,
    write_part,
)
from bitcipher.counts.segment_digest import digest_segment
from bitcipher.counts.segment_ranks import RankFinder, SegmentRanks
from bitcipher.counts.segment_words import cut_ranges, merge_words
from bitcipher.counts.shard_counts import PASSAGE_TOKENS, ShardCounts, count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.counts.vocabulary_file import VocabularyFile
from bitcipher.counts.word_ranges import (
    ALL_WORDS,
    SegmentSample,
    WordRange,
    choose_ranges,
    ranges_from,
    sample_step,
    sample_words,
)

__all__ = [
    "ALL_WORDS",
    "PASSAGE_TOKENS",
    "SEGMENT_WORDS",
    "ContextWindow",
    "CountDigest",
    "LocatedRanges",
    "MergedCounts",
    "NumberSet",
    "PairBlock",
    "PartialCounts",
    "RankFinder",
    "RowRange",
    "SegmentRanks",
    "SegmentSample",
    "ShardCounts",
    "TokenizedShard",
    "VocabularyFile",
    "WordRange",
    "check_numbers",
    "choose_ranges",
    "concatenate",
    "count_shard",
    "cut_ranges",
    "digest_pairs",
    "digest_segment",
    "digest_words",
    "find_row_ranges",
    "iter_merged_rows",
    "iter_pairs",
    "iter_words",
    "limit_window",
    "locate_ranges",
    "merge_rows",
    "merge_words",
    "negate",
    "open_merged",
    "part_files",
    "ranges_from",
    "read_pair_hashes",
    "read_row_range",
    "read_words",
    "remove_part",
    "renumber",
    "sample_step",
    "sample_words",
    "select_pairs",
    "select_rows",
    "split",
    "word_hashes",
    "write_pairs",
    "write_part",
]
