"""Tokenize shards of documents with our spaCy-identical tokenizer.

tokenize_ours.py FOLDER [digests | PASSES]

With `digests`, prints a SHA-256 of the tokens of each document, one per line. With a number of passes, the shards are
tokenized that many times. In each pass, all letters are shifted by one more position in the alphabet, which gives text
of the same size with nearly all new words.
"""

import string
import sys
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from bitcipher.files import parquet_files
from pipelines.tokenizers.registry import make_tokenizer


def shift_letters(documents: pa.LargeStringArray, positions: int) -> pa.LargeStringArray:
    """Return documents with all letters shifted in the alphabet."""
    table = {}
    for letters in (string.ascii_lowercase, string.ascii_uppercase):
        table.update(str.maketrans(letters, letters[positions:] + letters[:positions]))
    return pa.concat_arrays([pa.array([text.as_py().translate(table)], pa.large_string()) for text in documents])


def main(folder: str, mode: str = "") -> None:
    """Tokenize a directory."""
    shards = sorted(str(path) for path in Path(folder).iterdir())
    tokenizer = make_tokenizer("spacy", lowercase=True)
    for shift in range(int(mode) if mode.isdigit() else 1):
        for shard in shards:
            documents = parquet_files.read_table(shard)["text"].combine_chunks()
            tokens = tokenizer.tokenize(shift_letters(documents, shift) if mode.isdigit() else documents)
            if mode == "digests":
                words = tokens.words.to_pylist()
                start = 0
                for end in tokens.ends:
                    print(sha256("\n".join([words[i] for i in tokens.ids[start:end]]).encode()).hexdigest())
                    start = end


if __name__ == "__main__":
    main(*sys.argv[1:])
