"""The first two stages: sources → shards of documents → the words and pairs of each shard."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.counts import ShardCounts, Window, count_shard, write_pairs
from pipelines.documents import DocumentShard, read_document_shard, write_document_shards
from pipelines.plan import ReadTask
from pipelines.readers import ReadOptions, read_documents
from pipelines.runtime import Row
from pipelines.tokenizers import make_tokenizer

SHARD_WORDS = pa.schema(
    [
        pa.field("word", pa.large_string(), nullable=False),
        pa.field("number", pa.int32(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("documents", pa.int64(), nullable=False),
        pa.field("entries", pa.int64(), nullable=False),
    ]
)
"""The words of a shard in the order of their bytes: their number in the pairs, occurrences, documents that hold
them, and the entries of their rows."""


class ReadStage:
    """Reads the sources of a task into shards of documents.

    Args:
        folder: where the shards go.
        document, field: see `ReadOptions`.
        shard_bytes: text of a shard.
    """

    def __init__(self, folder: str, document: str, field: str, shard_bytes: int):
        self._folder = folder
        self._options = ReadOptions(document, field)
        self._shard_bytes = shard_bytes

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a `ReadTask` to a `DocumentShard` for each file."""
        task = ReadTask.from_row(row)
        documents = (text for source in task.sources for text in read_documents(source, self._options))
        for shard in write_document_shards(documents, self._folder, task.name, self._shard_bytes):
            yield shard.to_row()


class CountStage:
    """Tokenises and counts a shard of documents.

    Args:
        folder: where the counts go, a folder a shard.
        tokenizer, lowercase: see `make_tokenizer`.
        radius, summed: see `Window`.
    """

    def __init__(self, folder: str, tokenizer: str, lowercase: bool, radius: int, summed: bool):
        self._folder = folder
        self._tokenizer = make_tokenizer(tokenizer, lowercase)
        self._window = Window(radius, summed)

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a `DocumentShard` to the shard's sizes."""
        shard = DocumentShard.from_row(row)
        tokens = self._tokenizer.tokenize(read_document_shard(shard.uri))
        counts = count_shard(tokens, self._window)
        entries = write_shard(storage.join(self._folder, shard.name), counts)
        yield {
            "name": shard.name,
            "text_bytes": shard.text_bytes,
            "documents": shard.documents,
            "total_documents": counts.total_documents,
            "tokens": len(tokens.ids),
            "types": len(counts.words),
            "entries": entries,
        }


def write_shard(folder: str, counts: ShardCounts) -> int:
    """Write a shard's pairs and then its words; returns the entries."""
    entries = np.zeros(len(counts.words), np.int64)
    for block in write_pairs(storage.join(folder, "pairs"), counts.pairs):
        np.add.at(entries, block.left, block.length)
    columns = [counts.words, counts.numbers, counts.counts, counts.documents, entries[counts.numbers]]
    table = pa.Table.from_arrays([pa.array(column) for column in columns], schema=SHARD_WORDS)
    storage.write_table(storage.join(folder, "words.parquet"), table)
    return int(entries.sum())
