"""Calibration: measured rates, and sizes of growing text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rates:
    """CPU seconds per unit of work."""

    stored_byte: float
    """Reading and hashing one stored byte."""
    shard: float
    """Fixed cost of a shard."""
    token: float
    """Reading and counting one token and writing its pairs, if all text chunks are in the tokenizer's cache."""
    chunk: float
    """Tokenizing one new text chunk."""
    sum_type: float
    """Adding up one word of a segment."""
    number_type: float
    """Looking up one word of a segment among the merged words, or preparing a merged word for lookup."""
    number_again: float
    """Reading the number of one word again, for another range."""
    merge_entry: float
    """Merging one pair of a segment."""
    walk_entry: float
    """Reading one pair again while vectors are made."""
    embed_entry: float
    """Adding one pair to the sums, in the first pass."""
    embed_word: float
    """Making and refining the vector of one word."""


@dataclass(frozen=True)
class GrowthPoint:
    """Sizes of an amount of text."""

    tokens: int
    types: int
    """Number of distinct words."""
    chunks: int
    """Number of distinct text chunks, split at white space."""
    entries: int
    """Number of distinct pairs."""
    row_entries: int
    """Number of pairs of the word with the most; a range of words cannot be smaller."""


@dataclass(frozen=True)
class Calibration:
    """Measurements of a sample."""

    rates: Rates
    points: list[GrowthPoint]
    """Sizes of growing text; the last point is the whole sample."""
    text_per_token: float
    """Bytes of text per token."""
    entry_bytes: float
    """Stored bytes per pair."""
    type_bytes: float
    """Stored bytes per word."""
    type_memory: float
    """Bytes of memory per word, with its counts."""
    vocabulary: int
    """Number of words of the sample that are in the vocabulary."""
