"""Result of a calibration: measured rates, and sizes of growing text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rates:
    """CPU seconds per unit of work."""

    stored_byte: float
    """Reading and hashing one stored byte."""
    shard: float
    """Fixed cost of a shard."""
    token: float
    """Reading and counting one token and writing its pairs, without tokenizing new text chunks."""
    chunk: float
    """Tokenizing one new text chunk."""
    sum_type: float
    """Adding up one word of a segment."""
    number_type: float
    """Looking up one word of a segment among the merged words, or adding one merged word to the index."""
    number_again: float
    """Reading the number of one word again, for each range after the first."""
    merge_entry: float
    """Merging one pair of a segment."""
    walk_entry: float
    """Reading one pair again, in each embedding pass after the first."""
    embed_entry: float
    """Reading one pair and adding it to the sums, in the first embedding pass; in mode spectral, also weighting it, and
    multiplying it in the last product."""
    embed_word: float
    """Computing and refining the vector of one word."""
    product_entry: float
    """All products of mode spectral with one pair of a landmark and a context word, in either direction."""
    landmark: float
    """Linear algebra of mode spectral between the products, per landmark."""
    spelling_word: float
    """Fitting n-grams to the vectors of words in mode spectral, per word."""


@dataclass(frozen=True)
class GrowthPoint:
    """Sizes of the counts of some text."""

    tokens: int
    types: int
    """Number of distinct words."""
    single_passage_types: int
    """Number of words that occur in one passage only."""
    chunks: int
    """Number of distinct text chunks, split at white space."""
    entries: int
    """Number of distinct pairs."""
    row_entries: int
    """Number of pairs of the word with the most pairs, the minimum size of the range that contains it."""
    landmark_entries: int
    """Number of pairs of a landmark and a context word in mode spectral, forward and backward."""


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
    """Bytes of memory per word in a table of words and counts."""
    vocabulary: int
    """Size of the vocabulary of the sample."""
