"""From documents to numbered tokens; a tokenizer is an object with `tokenize(documents) -> TokenizedShard`."""

from typing import Protocol

import pyarrow as pa

from bitcipher import storage
from bitcipher.counts import TokenizedShard
from bitcipher.errors import BitcipherError
from pipelines.tokenizers.chunk_tokenizer import MAX_CHUNKS, ChunkTokenizer


class Tokenizer(Protocol):
    """What counting needs of a tokenizer."""

    def tokenize(self, documents: pa.LargeStringArray) -> TokenizedShard:
        """The tokens of documents, without any of white space."""


def tokenizer_path(name: str) -> str:
    """The name of a tokenizer as it is understood in any working directory: the path of a file made absolute."""
    return storage.absolute(name) if name.endswith(".json") else name


def make_tokenizer(name: str, lowercase: bool, max_chunks: int = MAX_CHUNKS) -> Tokenizer:
    """The tokenizer of a name.

    Args:
        name: "spacy", "spacy-exact", "whitespace", or the path or URI of a Hugging Face `tokenizer.json`.
        lowercase: lower-case tokens; a `tokenizer.json` says itself what it does to case.
        max_chunks: chunks to remember between shards, see `ChunkTokenizer`.

    Raises:
        BitcipherError: if there is no such tokenizer.
    """
    # Each is imported when it is asked for: spaCy alone takes half a second.
    if name == "whitespace":
        from pipelines.tokenizers.whitespace import WhitespaceRule

        return ChunkTokenizer(WhitespaceRule(lowercase), max_chunks)
    if name == "spacy":
        from pipelines.tokenizers.spacy_english import SpacyRule

        return ChunkTokenizer(SpacyRule(lowercase), max_chunks)
    if name == "spacy-exact":
        from pipelines.tokenizers.spacy_english import SpacyExactTokenizer

        return SpacyExactTokenizer(lowercase)
    if name.endswith(".json"):
        from pipelines.tokenizers.huggingface import HuggingFaceTokenizer

        return HuggingFaceTokenizer(name)
    raise BitcipherError(
        f"There is no tokenizer {name!r}: choose spacy, spacy-exact, whitespace, or give the path of a tokenizer.json."
    )
