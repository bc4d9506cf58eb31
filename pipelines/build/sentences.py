"""Sentences from a file of text, as a build would read them."""

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.options import BuildOptions
from pipelines.tokenizers import make_tokenizer


def read_sentences(uri: str, options: BuildOptions) -> list[list[str]]:
    """The tokens of each line of a file.

    Args:
        uri: a file of text in UTF-8, by path or URI.
        options: those of the build whose tokenizer is wanted.

    Raises:
        BitcipherError: if the file is missing, or is not text.
    """
    content = storage.read_bytes(uri)
    if content is None:
        raise BitcipherError(f"There is no file {uri}: give text that holds the word, a sentence a line.")
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise BitcipherError(f"{uri} is not text in UTF-8 (byte {error.start:,}): convert it first.") from None
    shard = make_tokenizer(options.tokenizer, options.lowercase).tokenize(pa.array(lines, pa.large_string()))
    words = np.array(shard.words.to_pylist(), object)
    starts = np.concatenate([np.zeros(1, np.int64), shard.ends[:-1]])
    return [words[shard.ids[start:end]].tolist() for start, end in zip(starts, shard.ends, strict=True)]
