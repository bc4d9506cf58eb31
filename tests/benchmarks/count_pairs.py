"""Count all pairs of a text file with one document per line, as one shard on disk.

count_pairs.py FILE FOLDER WINDOW positional|summed
"""

import sys

import numpy as np
import pyarrow as pa

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.segment import write_part
from bitcipher.counts.shard_counts import count_shard
from pipelines.ingest.chunk_batches import BatchJoiner, read_batches
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.tokenizers.registry import make_tokenizer


def read_corpus(file: str) -> pa.LargeStringArray:
    """Return all documents as an array, read as a build reads them."""
    (source,) = list_sources([file])
    joiner = BatchJoiner(source.size)
    for batch in read_batches(source, ReadOptions()):
        joiner.add(batch)
    chunks = joiner.join()
    # The chunks of a document follow one another in memory.
    ends = chunks.ends[~chunks.continues]
    text = pa.py_buffer(chunks.text)
    return pa.LargeStringArray.from_buffers(len(ends), pa.py_buffer(np.append(0, ends)), text)


if __name__ == "__main__":
    file, folder, window, form = sys.argv[1:]
    tokens = make_tokenizer("whitespace", lowercase=False).tokenize(read_corpus(file))
    counts = count_shard(tokens, ContextWindow(int(window), summed=form == "summed"))
    write_part(f"{folder}/counts", counts.words, counts.numbers, counts.counts, counts.passages, counts.pairs)
