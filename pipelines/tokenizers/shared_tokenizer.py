"""Tokenizer that the threads of a process share, so that each distinct chunk of text is tokenized only once."""

import threading
from weakref import WeakValueDictionary

import pyarrow as pa

from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.normalization import Normalization
from pipelines.tokenizers.registry import Tokenizer, make_tokenizer

_lock = threading.Lock()
_tokenizers: "WeakValueDictionary[tuple[str, bool, int, str], SharedTokenizer]" = WeakValueDictionary()


class SharedTokenizer:
    """Tokenizer that one thread at a time can use.

    Args:
        tokenizer: the tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._lock = threading.Lock()

    def tokenize(self, documents: pa.LargeStringArray, in_part: bool = False) -> TokenizedShard:
        """Return the tokens of documents, see `Tokenizer.tokenize`. Waits while another thread tokenizes."""
        with self._lock:
            return self._tokenizer.tokenize(documents, in_part)


def share_tokenizer(
    name: str, lowercase: bool, max_chunks: int, normalization: Normalization = "none"
) -> SharedTokenizer:
    """Return the tokenizer of this process with these arguments, those of `make_tokenizer`.

    It is made by the first thread that asks for it, and is freed when no thread holds it any longer.

    Raises:
        BitcipherError: if there is no such tokenizer.
    """
    with _lock:
        key = (name, lowercase, max_chunks, normalization)
        tokenizer = _tokenizers.get(key)
        if tokenizer is None:
            tokenizer = SharedTokenizer(make_tokenizer(name, lowercase, max_chunks, normalization))
            _tokenizers[key] = tokenizer
        return tokenizer
