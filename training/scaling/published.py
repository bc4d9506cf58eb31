"""What the paper measured, to be put beside one's own numbers; read from `published.yaml`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from bitcipher.storage import read_yaml
from training.scaling.shape import Shape

_Row = TypeVar("_Row")


@dataclass(frozen=True)
class CorpusRow:
    """A row of Table 1: what a filter kept of a corpus."""

    corpus: str
    filtered_by: str
    """`span` or `sentence`."""
    sentences: float
    """Millions."""
    tokens: float
    """Millions."""


@dataclass(frozen=True)
class EffectivenessRow:
    """A row of Table 2."""

    shape: Shape
    ratio: float | None
    """Fall in perplexity for a billion FLOPs more a sequence; None for the cheapest of a series."""


@dataclass(frozen=True)
class PretrainedRow:
    """A row of Table 3."""

    shape: Shape
    parameters: float
    """Millions."""
    flops: float
    """10¹⁵, of the whole training."""
    perplexity: float
    """On the test part."""
    glue_unfiltered: float
    """Mean score, per cent; so are the next two."""
    glue_filtered: float
    glue_filtered_random: float
    """Of the same shape without pre-training."""


@dataclass(frozen=True)
class UnconstrainedRow:
    """A row of Table 4: a model of unfiltered text, against the one of filtered text."""

    shape: Shape
    parameters: float
    """Millions more."""
    flops: float
    """Per cent more; so are all that follow."""
    perplexity: float
    glue_filtered: float
    glue_unfiltered: float


@dataclass(frozen=True)
class TokenizerRow:
    """A row of Table 6."""

    kind: str
    vocabulary: int | None
    """None for the pre-trained reference."""
    split_ratio: float
    """Tokens a word."""
    matching_score: float
    """Exact sub-token matching score, 0 to 1."""


@dataclass(frozen=True)
class LargerRow:
    """A row of Table 7."""

    shape: Shape
    parameters: float
    """Millions."""
    flops: float
    """10¹⁵, of the whole training."""
    perplexity: float


@dataclass(frozen=True)
class PublishedFit:
    """A power law of the loss at compute-optimal points (section 5.1)."""

    against: str
    exponent: float
    r_squared: float | None
    """None where the paper only says that it is low."""


@dataclass(frozen=True)
class Correlation:
    """Spearman between perplexity and mean score (section 5.3)."""

    glue: str
    """`filtered` or `unfiltered`."""
    coefficient: float
    p_value: float


@dataclass(frozen=True)
class Published:
    """Everything."""

    corpora: tuple[CorpusRow, ...]
    effectiveness: dict[str, tuple[EffectivenessRow, ...]]
    """By the size that grows, a field of `Shape`."""
    pretrained: tuple[PretrainedRow, ...]
    unconstrained: tuple[UnconstrainedRow, ...]
    tokenizers: tuple[TokenizerRow, ...]
    larger: tuple[LargerRow, ...]
    fits: tuple[PublishedFit, ...]
    break_at: float
    """FLOPs."""
    correlations: tuple[Correlation, ...]


@cache
def published() -> Published:
    """The paper's Tables 1, 2, 3, 4, 6 and 7, and its fits and correlations, as printed."""
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
    make: Any = row_type  # a named tuple of a shape and numbers
    return tuple(make(Shape.from_name(name), *map(float, numbers)) for name, *numbers in rows)
