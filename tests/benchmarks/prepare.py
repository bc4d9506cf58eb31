"""Brings a corpus into the forms that the comparisons read; nothing of this is measured.

prepare.py words DATA FILE     a document a line, its words (as `str.split` has them) between single spaces
prepare.py shards DATA FOLDER  shards of documents of 64 MB, as a build hands them to its tokenizer
prepare.py tokens DATA FILE    spaCy's tokens, lower-cased, between spaces, in lines of at most 10,000
"""

import sys
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pipelines.documents import write_document_shards
from pipelines.readers import ReadOptions, read_documents
from pipelines.sources import list_sources
from pipelines.tokenizers import make_tokenizer

SHARD_BYTES = 64 << 20  # the default of a build
LINE_TOKENS = 10_000  # gensim cuts sentences there


def read_texts(data: str) -> Iterator[str]:
    """The documents of a corpus."""
    for source in list_sources([data]):
        yield from read_documents(source, ReadOptions())


def write_words(data: str, target: str) -> None:
    """A document a line."""
    with open(target, "w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(" ".join(text.split()) + "\n" for text in read_texts(data))


def write_shards(data: str, target: str) -> None:
    """A folder of Parquet files."""
    for _ in write_document_shards(read_texts(data), target, "text", SHARD_BYTES):
        pass


def write_tokens(data: str, target: str) -> None:
    """Documents of tokens in one or more lines each."""
    tokenizer = make_tokenizer("spacy", lowercase=True)
    with open(target, "w", encoding="utf-8", newline="\n") as lines:
        for text in read_texts(data):
            tokens = tokenizer.tokenize(pa.array([text], pa.large_string()))
            words = np.array(tokens.words.to_pylist(), object)[tokens.ids]
            for start in range(0, len(words), LINE_TOKENS):
                lines.write(" ".join(words[start : start + LINE_TOKENS]) + "\n")


if __name__ == "__main__":
    form, data, target = sys.argv[1:]
    {"words": write_words, "shards": write_shards, "tokens": write_tokens}[form](data, target)
