"""Tokenized sentences of a text file."""

import numpy as np
import pyarrow as pa

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.text_files import decode_text
from pipelines.options import BuildOptions
from pipelines.tokenizers.registry import make_tokenizer


def read_sentences(uri: str, options: BuildOptions) -> list[list[str]]:
    """Return the tokens of each line of a file.

    Args:
        uri: path or URI of a text file in UTF-8, or with a byte-order mark.
        options: options of a build, whose tokenizer is used.

    Raises:
        BitcipherError: if the file is missing, or is not text.
    """
    content = storage.read_bytes(uri)
    if content is None:
        raise BitcipherError(f"The file {uri} does not exist. Give a text file with one sentence per line.")
    lines = decode_text(content, uri).splitlines()
    if not any(map(str.strip, lines)):
        raise BitcipherError(f"{uri} is empty. Give a text file with one sentence per line.")
    tokenizer = make_tokenizer(options.tokenizer, options.lowercase, normalization=options.normalization)
    shard = tokenizer.tokenize(pa.array(lines, pa.large_string()))
    words = np.array(shard.words.to_pylist(), object)
    starts = np.concatenate([np.zeros(1, np.int64), shard.ends[:-1]])
    return [words[shard.ids[start:end]].tolist() for start, end in zip(starts, shard.ends, strict=True)]
