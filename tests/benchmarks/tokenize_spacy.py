"""Tokenize shards of documents with spaCy itself.

tokenize_spacy.py FOLDER [digests]

With `digests`, prints a SHA-256 of the tokens of each document, one per line: in lowercase, without white space.
"""

import sys
from hashlib import sha256
from pathlib import Path

import spacy

from bitcipher.files import parquet_files


def main(folder: str, mode: str = "") -> None:
    """Tokenize a directory."""
    shards = sorted(str(path) for path in Path(folder).iterdir())
    tokenizer = spacy.blank("en").tokenizer
    for shard in shards:
        texts = (text.as_py() for text in parquet_files.read_table(shard)["text"])
        for document in tokenizer.pipe(texts):
            if mode == "digests":
                tokens = [token.lower_ for token in document if not token.is_space]
                print(sha256("\n".join(tokens).encode()).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
