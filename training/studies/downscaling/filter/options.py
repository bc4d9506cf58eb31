"""Options of the corpus filter."""

from typing import Literal, Self

from pydantic import Field, model_validator

from bitcipher.files.records import Strings
from pipelines.ingest.read_options import ReadOptions

Level = Literal["spans", "sentences", "both"]


class FilterOptions(ReadOptions):
    """Options of the corpus filter. The defaults are those of Deshpande et al. 2023, section 3.2."""

    level: Level = "both"
    """Keep spans, sentences, or both, if all their words are in the vocabulary."""
    spans_only: Strings = ()
    """Files, folders or globs of sources of which only spans are kept, whatever `level` is."""
    sentences_only: Strings = ()
    """Files, folders or globs of sources of which only sentences are kept, whatever `level` is."""
    span: int = Field(110, ge=1)
    """Number of words of a span, split at white space."""
    stride: int = Field(30, ge=1)
    """Number of words from the start of a span to the start of the next."""
    held_out_share: float = Field(0.01, ge=0, lt=0.5)
    """Share of documents in the development part, and share of documents in the test part."""
    unconstrained: bool = True
    """Draw a control sample: the same number of spans of each source, without the restriction to the vocabulary."""
    top: int | None = Field(None, ge=1)
    """Maximum number of words of the vocabulary; the most frequent are kept."""
    seed: int = 0
    """Seed of the control sample."""

    @model_validator(mode="after")
    def _check_stride(self) -> Self:
        if self.stride > self.span:
            raise ValueError(
                f"`stride` must be at most the span of {self.span} words, got {self.stride}: words between spans "
                "would be skipped."
            )
        return self

    @property
    def levels(self) -> tuple[str, ...]:
        """Levels that are kept: "spans", "sentences", or both."""
        return ("spans", "sentences") if self.level == "both" else (self.level,)

    @property
    def min_span_words(self) -> int:
        """Minimum number of words with letters in a span: three eighths (41 of 110, as in Deshpande et al.'s code)."""
        return max(1, self.span * 3 // 8)
