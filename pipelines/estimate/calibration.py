"""What a calibration measures."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rates:
    """CPU seconds."""

    stored_byte: float
    """To read a byte and add it to a digest."""
    shard: float
    """Of a shard, whatever its size."""
    token: float
    """To read and count a token and to write its pairs, all chunks of text being known."""
    chunk: float
    """To learn a chunk of text that the tokenizer has not seen."""
    sum_type: float
    """To add up a word of a segment, in the driver."""
    number_type: float
    """To find a word of a segment among the merged ones, or to get one of those ready for it."""
    number_again: float
    """To read a word's number once more, for another range."""
    merge_entry: float
    """To merge a pair of a segment."""
    walk_entry: float
    """To read a pair once more while vectors are made."""
    embed_entry: float
    """To add a pair to the sums, in its first walk."""
    embed_word: float
    """To make a word's vector of its sums, and to refine it."""


@dataclass(frozen=True)
class GrowthPoint:
    """What so much text has."""

    tokens: int
    types: int
    """Words, each once."""
    chunks: int
    """Chunks of text between white space, each once."""
    entries: int
    """Pairs, each once."""
    row_entries: int
    """Pairs of the word that has most: it cannot be cut in two when ranges are merged."""


@dataclass(frozen=True)
class Calibration:
    """What a sample told.

    Attributes:
        rates: what things take.
        points: sizes of growing text, the last of the whole sample.
        text_per_token: bytes.
        entry_bytes, type_bytes: on disk, of a pair and of a word.
        type_memory: bytes of a word in memory, with its counts.
        vocabulary: words of the sample that the options keep.
    """

    rates: Rates
    points: list[GrowthPoint]
    text_per_token: float
    entry_bytes: float
    type_bytes: float
    type_memory: float
    vocabulary: int
