"""Tokenizers by name."""

from typing import Protocol

import pyarrow as pa

from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.normalization import Normalization
from pipelines.lean_imports import import_spacy
from pipelines.tokenizers.chunk_tokenizer import MAX_CHUNKS, ChunkTokenizer, NormalizedRule, Rule


class Tokenizer(Protocol):
    """Interface of a tokenizer."""

    def tokenize(self, documents: pa.LargeStringArray, in_part: bool = False) -> TokenizedShard:
        """Return the tokens of documents. Tokens of white space are left out.

        Args:
            documents: the documents.
            in_part: whether to stop when the tokenizer's memory is full, after at least one document.
        """
        ...


def tokenizer_path(name: str) -> str:
    """Return the name of a tokenizer; the path of a tokenizer.json becomes absolute."""
    return storage.absolute(name) if name.endswith(".json") else name


def identify_tokenizer(name: str) -> dict[str, str]:
    """Return digests that are equal for releases of a tokenizer's library that give the same tokens.

    Args:
        name: see `make_tokenizer`.

    Returns:
        Digests by name; none for a tokenizer without a library.

    Raises:
        BitcipherError: if a `tokenizer.json` is missing, or is not a tokenizer.
    """
    if name.startswith("spacy"):
        import_spacy()
        from pipelines.tokenizers.spacy_english import rules_digest

        return {"spacy_rules": rules_digest()}
    if name.endswith(".json"):
        from pipelines.tokenizers.huggingface import output_digest

        return {"tokenizer_output": output_digest(name)}
    return {}


def make_tokenizer(
    name: str, lowercase: bool, max_chunks: int = MAX_CHUNKS, normalization: Normalization = "none"
) -> Tokenizer:
    """Return a tokenizer by name.

    Args:
        name: "spacy", "spacy-exact", "whitespace", or the path or URI of a Hugging Face `tokenizer.json`.
        lowercase: lowercase the tokens; a `tokenizer.json` has its own normalizer.
        max_chunks: maximum number of text chunks in the cache (see `ChunkTokenizer`).
        normalization: form of the text before it is tokenized; a `tokenizer.json` has its own normalizer.

    Raises:
        BitcipherError: if there is no such tokenizer.
    """
    # Imported here, because importing spaCy takes half a second.
    if name == "whitespace":
        from pipelines.tokenizers.whitespace import WhitespaceRule

        return ChunkTokenizer(_normalize_first(WhitespaceRule(lowercase), normalization), max_chunks)
    if name in ("spacy", "spacy-exact"):
        import_spacy()
    if name == "spacy":
        from pipelines.tokenizers.spacy_english import make_spacy_rule

        return ChunkTokenizer(_normalize_first(make_spacy_rule(lowercase), normalization), max_chunks)
    if name == "spacy-exact":
        from pipelines.tokenizers.spacy_english import SpacyExactTokenizer

        return SpacyExactTokenizer(lowercase, normalization)
    if name.endswith(".json"):
        from pipelines.tokenizers.huggingface import HuggingFaceTokenizer

        return HuggingFaceTokenizer(name)
    raise BitcipherError(
        f"`tokenizer` must be spacy, spacy-exact, whitespace, or the path of a tokenizer.json, got {name!r}."
    )


def _normalize_first(rule: Rule, normalization: Normalization) -> Rule:
    return rule if normalization == "none" else NormalizedRule(rule)
