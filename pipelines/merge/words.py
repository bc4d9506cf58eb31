"""Words of many segments, and from them the vocabulary."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher import storage
from bitcipher.counts import read_words
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary, byte_order
from pipelines.options import BuildOptions

COUNTS = ("count", "passages", "entries")

# Segments whose words are added up at once: memory is that of their words beside all words so far.
SEGMENTS_AT_ONCE = 16


def merge_words(added: Sequence[Sequence[str]], without: Sequence[Sequence[str]] = ()) -> pa.Table:
    """All words of segments, in the order of their bytes: word, count, passages and entries, added up.

    The entries are those of all segments one by one, so the sum's own are as many at most. Words of which nothing
    is left have a count of 0.

    Args:
        added: the parts of each segment.
        without: likewise of those that are subtracted.
    """
    table = sum_words(added, without)
    return table.take(pa.array(byte_order(table["word"].combine_chunks())))


def sum_words(added: Sequence[Sequence[str]], without: Sequence[Sequence[str]] = ()) -> pa.Table:
    """The same as `merge_words`, in any order."""
    if not added:
        raise BitcipherError("The sources hold no documents: check that they hold text, and that the field is right.")
    signed = [(parts, 1) for parts in added] + [(parts, -1) for parts in without]
    total = _signed_words(*signed[0])
    for start in range(1, len(signed), SEGMENTS_AT_ONCE):
        total = _add_up([total, *(_signed_words(*each) for each in signed[start : start + SEGMENTS_AT_ONCE])])
    return total


def _signed_words(parts: Sequence[str], sign: int) -> pa.Table:
    table = read_words(parts).select(["word", *COUNTS])
    if sign < 0:
        for name in ("count", "passages"):
            column = pa.array(-table[name].to_numpy())
            table = table.set_column(table.column_names.index(name), table.field(name), column)
    return table


def _add_up(tables: list[pa.Table]) -> pa.Table:
    """The sum of tables. What is most goes through a look-up rather than a grouping, which takes four times as long."""
    largest, *others = sorted(tables, key=len, reverse=True)
    rest = pa.concat_tables(others)
    if len(others) > 1:
        sums = rest.group_by("word", use_threads=False).aggregate([(name, "sum") for name in COUNTS])
        rest = pa.table([sums["word"], *(sums[f"{name}_sum"] for name in COUNTS)], schema=largest.schema)
    places = pc.index_in(rest["word"].combine_chunks(), largest["word"].combine_chunks())
    found = np.asarray(places.is_valid())
    places = np.asarray(places.drop_null())
    columns = [largest["word"]]
    for name in COUNTS:
        column = largest[name].to_numpy().copy()
        column[places] += rest[name].to_numpy()[found]
        columns.append(pa.chunked_array([column]))
    table = pa.table(columns, schema=largest.schema)
    return pa.concat_tables([table, rest.filter(pa.array(~found))]).combine_chunks()


def choose_vocabulary(
    words: pa.Table, total_passages: int, options: BuildOptions, known: pa.LargeStringArray | None = None
) -> Vocabulary:
    """The vocabulary that the options ask for; known words keep their ranks."""
    return Vocabulary.from_counts(
        words["word"].combine_chunks(),
        words["count"].to_numpy(),
        words["passages"].to_numpy(),
        total_passages,
        min_count=options.min_count,
        max_vocab_size=options.max_vocab_size,
        word_list=None if options.word_list is None else read_word_list(options.word_list),
        ranked_words=known,
    )


def read_word_list(uri: str) -> list[str]:
    """The words of a file, one a line; empty lines are left out."""
    with storage.reading(uri) as stream:
        try:
            lines = stream.read().decode().split("\n")
        except UnicodeDecodeError:
            raise BitcipherError(f"The word list {uri} is not UTF-8 text.") from None
    return [word for line in lines if (word := line.removesuffix("\r"))]


def cut_ranges(words: pa.Table, range_entries: int) -> list[tuple[int, int]]:
    """Runs of words, by the first place and the one behind, whose rows hold about so many entries.

    Args:
        words: see `merge_words`.
        range_entries: memory cap; a word alone may have more.
    """
    filled = np.cumsum(words["entries"].to_numpy())
    # A word belongs to the range that its first entry falls into, so a range is over by one word at most.
    range_of_word = np.concatenate([np.zeros(1, np.int64), filled[:-1]]) // range_entries
    firsts = np.flatnonzero(np.diff(range_of_word, prepend=-1))
    return list(zip(firsts.tolist(), [*firsts[1:].tolist(), len(words)], strict=True)) if len(words) else []
