"""Results of Deshpande et al. (2023) for comparison, read from `published.yaml`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from bitcipher.storage import read_yaml
from training.scaling.shape import Shape

_Row = TypeVar("_Row")


@dataclass(frozen=True)
class CorpusRow:
    """Row of Table 1: size of a corpus after filtering."""

    corpus: str
    filtered_by: str
    """`span` or `sentence`."""
    sentences: float
    """Millions of sentences."""
    tokens: float
    """Millions of tokens."""


@dataclass(frozen=True)
class EffectivenessRow:
    """Row of Table 2."""

    shape: Shape
    ratio: float | None
    """Decrease in perplexity per additional billion FLOPs of a sequence; None for the cheapest model of a series."""


@dataclass(frozen=True)
class PretrainedRow:
    """Row of Table 3."""

    shape: Shape
    parameters: float
    """Millions of parameters."""
    flops: float
    """FLOPs of the whole training, in units of 10¹⁵."""
    perplexity: float
    """Perplexity on the test split."""
    glue_unfiltered: float
    """Mean score on unfiltered GLUE, in percent."""
    glue_filtered: float
    """Mean score on filtered GLUE, in percent."""
    glue_filtered_random: float
    """Mean score of the same shape on filtered GLUE without pre-training, in percent."""


@dataclass(frozen=True)
class UnconstrainedRow:
    """Row of Table 4: differences between models trained on unfiltered and on filtered text."""

    shape: Shape
    parameters: float
    """Difference in millions."""
    flops: float
    """Difference in percent."""
    perplexity: float
    """Difference in percent."""
    glue_filtered: float
    """Difference in percent."""
    glue_unfiltered: float
    """Difference in percent."""


@dataclass(frozen=True)
class TokenizerRow:
    """Row of Table 6."""

    kind: str
    vocabulary: int | None
    """Vocabulary size; None for the pre-trained reference."""
    split_ratio: float
    """Tokens per word."""
    matching_score: float
    """Exact sub-token matching score, between 0 and 1."""


@dataclass(frozen=True)
class LargerRow:
    """Row of Table 7."""

    shape: Shape
    parameters: float
    """Millions of parameters."""
    flops: float
    """FLOPs of the whole training, in units of 10¹⁵."""
    perplexity: float


@dataclass(frozen=True)
class PublishedFit:
    """Power law of the loss at compute-optimal points (section 5.1)."""

    against: str
    """Quantity on the x axis."""
    exponent: float
    r_squared: float | None
    """None if the paper states only that it is low."""


@dataclass(frozen=True)
class Correlation:
    """Spearman's correlation between perplexity and mean score (section 5.3)."""

    glue: str
    """`filtered` or `unfiltered`."""
    coefficient: float
    p_value: float


@dataclass(frozen=True)
class Published:
    """All results of the paper."""

    corpora: tuple[CorpusRow, ...]
    effectiveness: dict[str, tuple[EffectivenessRow, ...]]
    """Rows by the size that varies, a field of `Shape`."""
    pretrained: tuple[PretrainedRow, ...]
    unconstrained: tuple[UnconstrainedRow, ...]
    tokenizers: tuple[TokenizerRow, ...]
    larger: tuple[LargerRow, ...]
    fits: tuple[PublishedFit, ...]
    break_at: float
    """FLOPs at the break."""
    correlations: tuple[Correlation, ...]


@cache
def published() -> Published:
    """Return the paper's Tables 1, 2, 3, 4, 6 and 7, and its fits and correlations, as printed."""
    content = read_yaml(str(Path(__file__).with_name("published.yaml")))
    return Published(
        corpora=tuple(CorpusRow(*row) for row in content["corpora"]),
        effectiveness={
            size: tuple(EffectivenessRow(Shape.from_name(name), ratio) for name, ratio in rows)
            for size, rows in content["effectiveness"].items()
        },
        pretrained=_of_shapes(PretrainedRow, content["pretrained"]),
        unconstrained=_of_shapes(UnconstrainedRow, content["unconstrained"]),
        tokenizers=tuple(TokenizerRow(*row) for row in content["tokenizers"]),
        larger=_of_shapes(LargerRow, content["larger"]),
        fits=tuple(PublishedFit(*row) for row in content["fits"]),
        break_at=content["break_at"],
        correlations=tuple(Correlation(*row) for row in content["correlations"]),
    )


def _of_shapes(row_type: type[_Row], rows: list[list]) -> tuple[_Row, ...]:
    make: Any = row_type  # a dataclass with a shape and numbers
    return tuple(make(Shape.from_name(name), *map(float, numbers)) for name, *numbers in rows)
