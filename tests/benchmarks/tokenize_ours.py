"""Tokenize shards of documents with our spaCy-identical tokenizer.

tokenize_ours.py FOLDER [digests | PASSES]

With `digests`, prints a SHA-256 of each document's tokens, one a line. With a number, the shards are streamed so
often, each time with all letters moved one place on in the alphabet: text of the same size that is nearly all new
words.
"""

import string
import sys
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from bitcipher import storage
from pipelines.tokenizers import make_tokenizer


def shifted(documents: pa.LargeStringArray, places: int) -> pa.LargeStringArray:
    """Yield documents with letters shifted in the alphabet."""
    shift = {}
    for letters in (string.ascii_lowercase, string.ascii_uppercase):
        shift.update(str.maketrans(letters, letters[places:] + letters[:places]))
    return pa.concat_arrays([pa.array([text.as_py().translate(shift)], pa.large_string()) for text in documents])


def main(folder: str, mode: str = "") -> None:
    """Tokenize a directory."""
    shards = sorted(str(path) for path in Path(folder).iterdir())
    tokenizer = make_tokenizer("spacy", lowercase=True)
    for places in range(int(mode) if mode.isdigit() else 1):
        for shard in shards:
            documents = storage.read_table(shard)["text"].combine_chunks()
            tokens = tokenizer.tokenize(shifted(documents, places) if mode.isdigit() else documents)
            if mode == "digests":
                words = tokens.words.to_pylist()
                start = 0
                for end in tokens.ends:
                    print(sha256("\n".join([words[i] for i in tokens.ids[start:end]]).encode()).hexdigest())
                    start = end


if __name__ == "__main__":
    main(*sys.argv[1:])
