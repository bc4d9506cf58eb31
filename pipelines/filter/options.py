"""Options of the corpus filter."""

from typing import Literal, Self

from pydantic import Field, model_validator

from pipelines.ingest.read_options import ReadOptions


class FilterOptions(ReadOptions):
    """How a corpus is cut into spans, and which are kept; the defaults are those of Deshpande et al. 2023, 3.2."""

    level: Literal["spans", "sentences", "both"] = "both"
    """Keep spans, sentences, or both, if all their words are in the vocabulary."""
    span: int = Field(110, ge=1)
    """Number of words of a span, split at white space."""
    stride: int = Field(30, ge=1)
    """Number of words from the start of a span to the start of the next."""
    held_out_share: float = Field(0.01, ge=0, lt=0.5)
    """Share of documents held out for development, and again for the test."""
    unconstrained: bool = True
    """Draw a control sample: as many spans of any words from each source."""
    top: int | None = Field(None, ge=1)
    """Restrict the vocabulary to this number of words, the most frequent."""
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
        """The levels that are kept: spans, sentences, or both."""
        return ("spans", "sentences") if self.level == "both" else (self.level,)

    @property
    def min_span_words(self) -> int:
        """Minimum number of words of a span: 41 of 110, as in the code of Deshpande et al., else in proportion."""
        return max(1, self.span * 3 // 8)
