"""Results of Deshpande et al. (2023) for comparison, read from `published.yaml`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from bitcipher.files.yaml_files import read_yaml
from training.studies.downscaling.scaling.shape import Shape

_Row = TypeVar("_Row")


@dataclass(frozen=True)
class CorpusRow:
    """Row of Table 1: size of a corpus after filtering."""

    corpus: str
    """Name of the corpus."""
    filtered_by: str
    """Unit of text that was kept or removed: `span` or `sentence`."""
    sentences: float
    """Millions of sentences."""
    tokens: float
    """Millions of tokens."""


@dataclass(frozen=True)
class EffectivenessRow:
    """Row of Table 2: cost-effectiveness of a model."""

    shape: Shape
    """Shape of the model."""
    ratio: float | None
    """Decrease in perplexity per additional billion FLOPs of a sequence; None for the cheapest model of a series."""


@dataclass(frozen=True)
class PretrainedRow:
    """Row of Table 3: size, cost and scores of a pre-trained model."""

    shape: Shape
    """Shape of the model."""
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
    """Row of Table 4: a model trained on unfiltered text compared with the same shape trained on filtered text.

    Positive differences mean that the value is larger with unfiltered text. Percentages are relative to the value with
    filtered text.
    """

    shape: Shape
    """Shape of both models."""
    parameters: float
    """Difference of the numbers of parameters, in millions; the vocabulary of unfiltered text is larger."""
    flops: float
    """Difference of the FLOPs, in percent."""
    perplexity: float
    """Difference of the perplexities, in percent."""
    glue_filtered: float
    """Difference of the mean scores on filtered GLUE, in percent."""
    glue_unfiltered: float
    """Difference of the mean scores on unfiltered GLUE, in percent."""


@dataclass(frozen=True)
class TokenizerRow:
    """Row of Table 6: scores of a tokenizer."""

    kind: str
    """Algorithm of the tokenizer, such as BPE."""
    vocabulary: int | None
    """Vocabulary size; None for the pre-trained reference tokenizer."""
    split_ratio: float
    """Number of tokens per word."""
    matching_score: float
    """Exact sub-token matching score, between 0 and 1."""


@dataclass(frozen=True)
class LargerRow:
    """Row of Table 7: size, cost and perplexity of a larger model."""

    shape: Shape
    """Shape of the model."""
    parameters: float
    """Millions of parameters."""
    flops: float
    """FLOPs of the whole training, in units of 10¹⁵."""
    perplexity: float
    """Perplexity on the test split."""


@dataclass(frozen=True)
class PublishedFit:
    """Power law of the loss at compute-optimal points (section 5.1)."""

    against: str
    """Quantity that the loss is fitted against, such as `parameters`."""
    exponent: float
    """Exponent of the power law."""
    r_squared: float | None
    """R² of the fit; None if the authors state only that it is low."""


@dataclass(frozen=True)
class Correlation:
    """Spearman's correlation between perplexity and mean score (section 5.3)."""

    glue: str
    """GLUE examples that were scored: `filtered` or `unfiltered`."""
    coefficient: float
    """Correlation coefficient, from -1 to 1."""
    p_value: float
    """p-value as printed."""


@dataclass(frozen=True)
class Published:
    """Results of Deshpande et al. (2023), as printed."""

    corpora: tuple[CorpusRow, ...]
    """Table 1."""
    effectiveness: dict[str, tuple[EffectivenessRow, ...]]
    """Table 2. The key is the field of `Shape` that differs between the rows."""
    pretrained: tuple[PretrainedRow, ...]
    """Table 3."""
    unconstrained: tuple[UnconstrainedRow, ...]
    """Table 4."""
    tokenizers: tuple[TokenizerRow, ...]
    """Table 6."""
    larger: tuple[LargerRow, ...]
    """Table 7."""
    fits: tuple[PublishedFit, ...]
    """Power laws of section 5.1."""
    break_at: float
    """FLOPs that separate the two power laws against FLOPs in `fits`."""
    correlations: tuple[Correlation, ...]
    """Correlations of section 5.3."""


@cache
def published() -> Published:
    """Return Tables 1, 2, 3, 4, 6 and 7 of Deshpande et al. (2023), and their fits and correlations, as printed."""
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
