"""Options of an alignment."""

from typing import Literal, get_args

from pydantic import Field

from bitcipher.files.records import Float, Record

Loss = Literal[
    "mse",
    "cosine",
    "additive_euclidean_cosine",
    "multiplicative_euclidean_cosine",
    "triplet_euclidean",
    "triplet_angular",
]
LOSSES: tuple[str, ...] = get_args(Loss)

# Kernel sizes and numbers of filters of the convolutions, from El Boukkouri et al. (2020), *CharacterBERT*. The big
# network has twice as many filters.
SMALL_FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
FILTERS = {"small": SMALL_FILTERS, "big": tuple((kernel, 2 * filters) for kernel, filters in SMALL_FILTERS)}
SIZES = tuple(FILTERS)


class AlignmentOptions(Record):
    """Options of an alignment: those of Rodriguez Perez et al. (2023), section IV.

    The paper leaves open `alpha`, `plateau_patience`, and how the negative tokens of the triplet losses are chosen,
    which are drawn uniformly here. It trains for 10⁴ epochs, 200 times as many as the default of `epochs`.
    """

    size: Literal["small", "big"] = "big"
    """Size of the network: `small` has 18.6 million parameters at width 768, `big` has 70.7 million."""
    loss: Loss = "cosine"
    """Loss between the vectors of the network and those of the table."""
    alpha: Float = Field(1.0, gt=0)
    """Weight of the cosine error in the two losses that combine it with the Euclidean distance."""
    margin: Float = Field(1.0, gt=0)
    """Margin of the triplet losses."""
    epochs: int = Field(50, ge=1)
    """Number of passes over the tokens; the paper's is 10⁴."""
    batch_size: int = Field(100, ge=2)
    """Tokens per step."""
    learning_rate: Float = Field(1e-3, gt=0)
    """Learning rate of Adam."""
    plateau_factor: Float = Field(0.9, gt=0, lt=1)
    """Factor of the learning rate when the loss of an epoch has stopped decreasing."""
    plateau_patience: int = Field(2, ge=0)
    """Number of epochs without a lower loss before the learning rate is multiplied by `plateau_factor`."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device of the training: `cpu`, `cuda`, or `auto`: a GPU if there is one."""
    seed: int = 1
    """Seed of the weights, the order of the tokens and the negative tokens."""
