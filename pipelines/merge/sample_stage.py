"""Stage that samples the words of segments, to choose ranges of words (`choose_ranges`)."""

from collections.abc import Iterator
from dataclasses import dataclass

from bitcipher.counts.word_ranges import SegmentSample, sample_words


@dataclass(frozen=True)
class SampleInput:
    """A segment whose words are sampled."""

    merge: str
    """Name of the sum that the segment is added to."""
    operand: int
    """Number of the segment in the sum."""
    parts: list[str]
    """URIs of the parts of the segment."""
    weight: str | None
    """Column of the words that is their weight, or None if each word has the weight 1."""
    step: int
    """Maximum weight of the words between two sampled words."""


@dataclass(frozen=True)
class SampledOperand:
    """Output of `SampleStage` for a segment."""

    merge: str
    """Name of the sum that the segment is added to."""
    operand: int
    """Number of the segment in the sum."""
    sample: SegmentSample


class SampleStage:
    """Stage that samples the words of a segment."""

    def __call__(self, item: SampleInput) -> Iterator[SampledOperand]:
        """Yield the sample of a segment."""
        yield SampledOperand(item.merge, item.operand, sample_words(item.parts, item.weight, item.step))
