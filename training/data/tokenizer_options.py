"""Options of a tokenizer."""

from typing import Literal, get_args

from pydantic import Field

from bitcipher.records import Record

TokenizerKind = Literal["bpe", "wordpiece", "unigram"]
KINDS: tuple[str, ...] = get_args(TokenizerKind)


class TokenizerOptions(Record):
    """Tokenizer to train, or to load."""

    kind: TokenizerKind = "bpe"
    """`bpe` (byte-level, as RoBERTa and GPT-2), `wordpiece` (as BERT) or `unigram` (as T5)."""
    vocab_size: int = Field(8000, ge=1)
    """Number of tokens, including the special ones."""
    lowercase: bool = False
    """Lowercase the text."""
    sentinels: int = Field(0, ge=0)
    """Number of sentinel tokens, which span corruption needs (T5: 100)."""
    path: str | None = None
    """A tokenizer.json to load instead; the other options are then ignored."""
