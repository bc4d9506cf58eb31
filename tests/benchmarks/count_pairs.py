"""Count all pairs of a text file with one document per line, as one shard on disk.

count_pairs.py FILE FOLDER WINDOW positional|summed
"""

import sys

import pyarrow as pa
from prepare import read_texts

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.segment import write_part
from bitcipher.counts.shard_counts import count_shard
from pipelines.tokenizers.registry import make_tokenizer


def read_corpus(file: str) -> pa.LargeStringArray:
    """Return all documents as an array. At any time, memory holds only one of them as a Python string."""
    return pa.concat_arrays([pa.array([text], pa.large_string()) for text in read_texts([file])])


if __name__ == "__main__":
    file, folder, window, form = sys.argv[1:]
    tokens = make_tokenizer("whitespace", lowercase=False).tokenize(read_corpus(file))
    counts = count_shard(tokens, ContextWindow(int(window), summed=form == "summed"))
    write_part(f"{folder}/counts", counts.words, counts.numbers, counts.counts, counts.passages, counts.pairs)
