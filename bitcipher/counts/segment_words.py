"""Sums of the words of segments, and their ranges."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.counts.segment import SEGMENT_WORDS, iter_words
from bitcipher.counts.word_ranges import ALL_WORDS, WordRange
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import byte_order

COUNTS = ("count", "passages", "entries")

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
        Table with the columns word, count, passages and entries (number of pairs). `entries` is the sum over all
        segments, including the subtracted segments, so it is an upper bound for the merged segment. A word that is
        subtracted completely has a count of 0.
    """
    if not added:
        raise BitcipherError("The sources have no documents: check that they contain text, and that `field` is right.")
    signed = [(parts, 1) for parts in added] + [(parts, -1) for parts in subtracted]
    total = _signed_words(*signed[0], words)
    for start in range(1, len(signed), SEGMENTS_PER_STEP):
        total = _add_up([total, *(_signed_words(*each, words) for each in signed[start : start + SEGMENTS_PER_STEP])])
    return total.take(pa.array(byte_order(total["word"].combine_chunks())))


def _signed_words(parts: Sequence[str], sign: int, words: WordRange) -> pa.Table:
    names = ["word", *COUNTS]
    tables = (words.select(table.select(names)) for part in parts for table in iter_words(part))
    table = pa.concat_tables([SEGMENT_WORDS.empty_table().select(names), *tables]).combine_chunks()
    if sign < 0:
        for name in ("count", "passages"):
            column = pa.array(-table[name].to_numpy())
            table = table.set_column(table.column_names.index(name), table.field(name), column)
    return table


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


def cut_ranges(words: pa.Table, range_entries: int) -> list[tuple[int, int]]:
    """Split words into ranges with about the same number of entries.

    Args:
        words: table of `merge_words`.
        range_entries: maximum number of entries of a range. A range can exceed it by the entries of one word.

    Returns:
        Start and stop of each range, as positions in the table.
    """
    filled = np.cumsum(words["entries"].to_numpy())
    # A word belongs to the range of its first entry.
    range_of_word = np.concatenate([np.zeros(1, np.int64), filled[:-1]]) // range_entries
    firsts = np.flatnonzero(np.diff(range_of_word, prepend=-1))
    return list(zip(firsts.tolist(), [*firsts[1:].tolist(), len(words)], strict=True)) if len(words) else []
