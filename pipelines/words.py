"""From the words of all shards to the vocabulary."""

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary, byte_order
from pipelines.options import BuildOptions

# Shards whose words are added up at once: memory is that of their words beside all words so far.
SHARDS_AT_ONCE = 16


def merge_words(shards: list[str]) -> pa.Table:
    """All words of the shards, in the order of their bytes: word, count, documents and entries, added up.

    Args:
        shards: their folders.
    """
    if not shards:
        raise BitcipherError("The sources hold no documents: check that they hold text, and that the field is right.")
    merged: list[pa.Table] = []
    for start in range(0, len(shards), SHARDS_AT_ONCE):
        merged += [read_words(shard).drop_columns("number") for shard in shards[start : start + SHARDS_AT_ONCE]]
        merged = [_add_up(merged)]
    (table,) = merged
    return table.take(pa.array(byte_order(table["word"].combine_chunks())))


def _add_up(tables: list[pa.Table]) -> pa.Table:
    sums = pa.concat_tables(tables).group_by("word", use_threads=False)
    names = ("count", "documents", "entries")
    added = sums.aggregate([(name, "sum") for name in names])
    return pa.table({"word": added["word"], **{name: added[f"{name}_sum"] for name in names}}).combine_chunks()


def read_words(shard: str) -> pa.Table:
    """The words of one shard, see `SHARD_WORDS`."""
    return storage.read_table(storage.join(shard, "words.parquet"))


def choose_vocabulary(words: pa.Table, total_documents: int, options: BuildOptions) -> Vocabulary:
    """The vocabulary that the options ask for."""
    return Vocabulary.from_counts(
        words["word"].combine_chunks(),
        words["count"].to_numpy(),
        words["documents"].to_numpy(),
        total_documents,
        min_count=options.min_count,
        max_size=options.max_size,
        word_list=None if options.word_list is None else read_word_list(options.word_list),
    )


def read_word_list(uri: str) -> list[str]:
    """The words of a file, one a line; empty lines are left out."""
    with storage.reading(uri) as stream:
        try:
            lines = stream.read().decode().split("\n")
        except UnicodeDecodeError:
            raise BitcipherError(f"The word list {uri} is not UTF-8 text.") from None
    return [word for line in lines if (word := line.removesuffix("\r"))]


def cut_ranges(words: pa.Table, range_entries: int) -> list[tuple[str, str]]:
    """Ranges of words, first and last, whose rows hold about so many entries in all shards together.

    A function of the counts alone, so that it is the same whatever runs the merge.
    """
    filled = np.cumsum(words["entries"].to_numpy())
    # A word belongs to the range that its first entry falls into, so a range is over by one word at most.
    range_of_word = np.concatenate([np.zeros(1, np.int64), filled[:-1]]) // range_entries
    firsts = np.flatnonzero(np.diff(range_of_word, prepend=-1))
    lasts = np.append(firsts[1:], len(words)) - 1
    return list(
        zip(
            words["word"].take(pa.array(firsts)).to_pylist(),
            words["word"].take(pa.array(lasts)).to_pylist(),
            strict=True,
        )
    )
