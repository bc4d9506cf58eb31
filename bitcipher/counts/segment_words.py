"""Sums of the words of segments, and their ranges."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.counts.segment import SEGMENT_WORDS
from bitcipher.counts.word_ranges import ALL_WORDS, WordRange
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import byte_order

COUNTS = ("count", "passages", "size")

# Number of segments whose words are added at a time. Memory holds their words in addition to the sum so far.
SEGMENTS_PER_STEP = 16


def merge_words(
    added: Sequence[Sequence[str]], subtracted: Sequence[Sequence[str]] = (), words: WordRange = ALL_WORDS
) -> pa.Table:
    """Return the words of a sum of segments, sorted by their bytes.

    Args:
        added: URIs of the parts of each segment that is added.
        subtracted: URIs of the parts of each segment that is subtracted.
        words: the range of words to add up. Other words are not held in memory.

    Returns:
        Table with the columns word, count, passages and size. `size` is the number of rows and entries (stored pairs)
        of the word that a merge reads, in all segments, including the subtracted ones. A word that is subtracted
        completely has a count of 0.
    """
    if not added:
        raise BitcipherError("The sources have no documents: check that they contain text, and that `field` is right.")
    signed = [(parts, 1) for parts in added] + [(parts, -1) for parts in subtracted]
    total = _signed_words(*signed[0], words)
    for start in range(1, len(signed), SEGMENTS_PER_STEP):
        total = _add_up([total, *(_signed_words(*each, words) for each in signed[start : start + SEGMENTS_PER_STEP])])
    return total.take(pa.array(byte_order(total["word"].combine_chunks())))


def _signed_words(parts: Sequence[str], sign: int, words: WordRange) -> pa.Table:
    tables = (_sized_words(table, sign) for part in parts for table in words.iter_words(part))
    return pa.concat_tables([_sized_words(SEGMENT_WORDS.empty_table(), sign), *tables]).combine_chunks()


def _sized_words(words: pa.Table, sign: int) -> pa.Table:
    """Return the columns of `merge_words` of some words of a segment."""
    counts, passages, rows, entries = (words[name].to_numpy() for name in ("count", "passages", "rows", "entries"))
    columns = (sign * counts, sign * passages, rows + entries)
    return pa.table({"word": words["word"], **dict(zip(COUNTS, columns, strict=True))})


def _add_up(tables: list[pa.Table]) -> pa.Table:
    """Return the sum of tables. The largest is updated by lookups, which is four times as fast as grouping all rows."""
    largest, *others = sorted(tables, key=len, reverse=True)
    rest = pa.concat_tables(others)
    if len(others) > 1:
        sums = rest.group_by("word", use_threads=False).aggregate([(name, "sum") for name in COUNTS])
        rest = pa.table([sums["word"], *(sums[f"{name}_sum"] for name in COUNTS)], schema=largest.schema)
    positions = pc.index_in(rest["word"].combine_chunks(), largest["word"].combine_chunks())
    found = np.asarray(positions.is_valid())
    positions = np.asarray(positions.drop_null())
    columns = [largest["word"]]
    for name in COUNTS:
        column = largest[name].to_numpy().copy()
        column[positions] += rest[name].to_numpy()[found]
        columns.append(pa.chunked_array([column]))
    table = pa.table(columns, schema=largest.schema)
    return pa.concat_tables([table, rest.filter(pa.array(~found))]).combine_chunks()


def cut_ranges(sizes: np.ndarray, range_size: int, max_word_size: int | None = None) -> list[tuple[int, int]]:
    """Split words into ranges with about the same size.

    Args:
        sizes: (words,) int64, size of each word.
        range_size: maximum size of a range. A range can exceed it by the size of one word.
        max_word_size: a word of a larger size is a range of its own.

    Returns:
        Start and stop of each range, as positions in the array.
    """
    # A word belongs to the range of the first of its units of size.
    range_of_word = (np.cumsum(sizes) - sizes) // range_size
    firsts = np.flatnonzero(np.diff(range_of_word, prepend=-1))
    if max_word_size is not None:
        large = np.flatnonzero(sizes > max_word_size)
        firsts = np.unique(np.concatenate([firsts, large, (large + 1)[large + 1 < len(sizes)]]))
    return list(zip(firsts.tolist(), [*firsts[1:].tolist(), len(sizes)], strict=True)) if len(sizes) else []
