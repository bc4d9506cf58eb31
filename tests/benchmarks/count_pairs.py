"""From a text file, a document a line, to the complete pair counts of the corpus on disk, as one shard.

count_pairs.py FILE FOLDER RADIUS positional|summed
"""

import sys

import pyarrow as pa

from bitcipher.counts import Window, count_shard
from pipelines.count import write_shard
from pipelines.readers import ReadOptions, read_documents
from pipelines.sources import list_sources
from pipelines.tokenizers import make_tokenizer


def read_corpus(file: str) -> pa.LargeStringArray:
    """All documents, with no more than one at a time outside the array."""
    (source,) = list_sources([file])
    texts = read_documents(source, ReadOptions())
    return pa.concat_arrays([pa.array([text], pa.large_string()) for text in texts])


if __name__ == "__main__":
    file, folder, radius, form = sys.argv[1:]
    tokens = make_tokenizer("whitespace", lowercase=False).tokenize(read_corpus(file))
    write_shard(folder, count_shard(tokens, Window(int(radius), summed=form == "summed")))
