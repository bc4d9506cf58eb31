"""Convert a corpus to the formats that the comparisons read. This is not measured.

prepare.py words FILE DATA...     one document per line: its words (as by `str.split`), separated by single spaces
prepare.py shards FOLDER DATA...  Parquet files with 64 MB of documents each
prepare.py tokens FILE DATA...    spaCy's tokens in lowercase, separated by spaces, in lines of at most 10,000 tokens
prepare.py files FOLDER DATA...   100 files of JSON lines, with the documents distributed in turn
prepare.py documents FILE DATA... one document per line, as a JSON string
prepare.py long FILE MB DATA...   the documents as in `words`, then repeatedly with their words shuffled, up to a size
"""

import gzip
import json
import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count, cycle, islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from bitcipher.files import parquet_files
from pipelines.ingest.documents import read_documents
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.tokenizers.registry import make_tokenizer

SHARD_BYTES = 64 << 20  # the default of a build
LINE_TOKENS = 10_000  # gensim splits longer sentences
BATCH_DOCUMENTS = 500
FILES = 100


def read_texts(data: list[str]) -> Iterator[str]:
    """Yield the documents of a corpus."""
    for source in list_sources(data):
        yield from read_documents(source, ReadOptions())


def write_words(target: str, data: list[str]) -> None:
    """Write one document per line."""
    with open(target, "w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(" ".join(text.split()) + "\n" for text in read_texts(data))


def write_shards(target: str, data: list[str]) -> None:
    """Write a directory of Parquet files."""
    texts, size, numbers = [], 0, count()
    for text in read_texts(data):
        texts.append(text)
        size += len(text.encode())
        if size >= SHARD_BYTES:
            _write_shard(f"{target}/{next(numbers):05d}.parquet", texts)
            texts, size = [], 0
    if texts:
        _write_shard(f"{target}/{next(numbers):05d}.parquet", texts)


def _write_shard(target: str, texts: list[str]) -> None:
    parquet_files.write_table(target, pa.table({"text": pa.array(texts, pa.large_string())}))


def write_tokens(target: str, data: list[str]) -> None:
    """Write documents as tokens, in one or more lines each."""
    tokenizer = make_tokenizer("spacy", lowercase=True)
    with open(target, "w", encoding="utf-8", newline="\n") as lines:
        for texts in _batched(read_texts(data), BATCH_DOCUMENTS):
            tokens = tokenizer.tokenize(pa.array(texts, pa.large_string()))
            words = np.array(tokens.words.to_pylist(), object)
            for document in np.split(tokens.ids, tokens.ends[:-1]):
                for start in range(0, len(document), LINE_TOKENS):
                    lines.write(" ".join(words[document[start : start + LINE_TOKENS]]) + "\n")


def _batched(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    while batch := list(islice(texts, size)):
        yield batch


def write_files(target: str, data: list[str]) -> None:
    """Write a directory of gzipped JSON lines."""
    Path(target).mkdir()
    with ExitStack() as stack:
        files = [
            stack.enter_context(gzip.open(f"{target}/{number:03d}.jsonl.gz", "wt", encoding="utf-8"))
            for number in range(FILES)
        ]
        for text, file in zip(read_texts(data), cycle(files), strict=False):
            file.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")


def write_documents(target: str, data: list[str]) -> None:
    """Write one document per line, as a JSON string in ASCII."""
    with open(target, "w", encoding="ascii") as lines:
        lines.writelines(json.dumps(text) + "\n" for text in read_texts(data))


def write_long(target: str, data: list[str]) -> None:
    """Write like `write_words`, up to a size, the first of `data`."""
    size, data = int(data[0]) << 20, data[1:]
    shuffle = random.Random(1).shuffle
    with open(target, "wb") as lines:
        for number in count():
            for text in read_texts(data):
                words = text.split()
                if number:
                    shuffle(words)
                lines.write(" ".join(words).encode() + b"\n")
                if lines.tell() >= size:
                    return


FORMS = {
    "words": write_words,
    "shards": write_shards,
    "tokens": write_tokens,
    "files": write_files,
    "documents": write_documents,
    "long": write_long,
}

if __name__ == "__main__":
    form, target, *data = sys.argv[1:]
    FORMS[form](target, data)
