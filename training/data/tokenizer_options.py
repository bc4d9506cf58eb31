"""Options of the tokenizer of a run."""

from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from bitcipher.files.records import Float, Record
from training.data.word_segmentation import SegmentationName

TokenizerKind = Literal["bpe", "wordpiece", "unigram"]
KINDS: tuple[str, ...] = get_args(TokenizerKind)


class TokenizerOptions(Record):
    """Tokenizer to train on the text, or to load from a file."""

    kind: TokenizerKind = "bpe"
    """Algorithm: `bpe` (byte-level, as in RoBERTa and GPT-2), `wordpiece` (as in BERT) or `unigram` (as in T5)."""
    vocab_size: int = Field(8000, ge=1)
    """Number of tokens, including the special tokens."""
    lowercase: bool = False
    """Lowercase the text."""
    sentinels: int = Field(0, ge=0)
    """Number of sentinel tokens, which span corruption needs (T5: 100)."""
    segmentation: SegmentationName | None = None
    """Segmentation of words into stems and affixes before `unigram`: `arabic` (as in AraBERT), or null for none."""
    sample_fraction: Float = Field(1.0, gt=0, le=1)
    """Fraction of the training documents to train the tokenizer on, drawn by a hash of their text."""
    path: str | None = None
    """Path of a tokenizer.json to load instead of training; the other options are then ignored."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.segmentation is not None and self.kind != "unigram":
            raise ValueError(f"`segmentation` needs `kind` to be unigram, got {self.kind}; change it or leave it out.")
        return self
