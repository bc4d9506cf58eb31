"""Which tokenizer a text is read with."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError

KINDS = ("bpe", "wordpiece", "unigram")


@dataclass(frozen=True)
class TokenizerOptions:
    """One that is trained on the text, or one that is there."""

    kind: str = "bpe"
    """bpe (byte-level, as RoBERTa and GPT-2 have it), wordpiece (as BERT) or unigram (as T5)."""
    size: int = 8000
    """Tokens in all, special ones among them."""
    lowercase: bool = False
    """Whether "The" and "the" are the same."""
    sentinels: int = 0
    """Tokens that stand for gaps, which T5's span corruption needs (T5: 100)."""
    path: str | None = None
    """A tokenizer.json to use instead; the other options are then of no effect."""

    def __post_init__(self) -> None:
        """Refuse what no trainer understands."""
        if self.kind not in KINDS:
            raise BitcipherError(f"There is no tokenizer of kind {self.kind!r}: take one of {', '.join(KINDS)}.")
        if self.size < 1 or self.sentinels < 0:
            raise BitcipherError(f"A tokenizer cannot have {self.size} tokens and {self.sentinels} sentinels.")
