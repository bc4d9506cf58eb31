"""How a model's embedding layer starts, and when it is trained."""

from dataclasses import dataclass, field
from typing import Any

from bitcipher.errors import BitcipherError

STARTS = ("cold", "cipher")
THAWS = ("step", "plateau")

# A small GPT-2 with tied tables learned as fast from 6, and slower from 1 (training/README.md).
CIPHER_SCALE = 3.0


@dataclass(frozen=True)
class EmbeddingInitOptions:
    """Where the table comes from, and how it is treated."""

    start: str = "cold"
    """cold (the model's own random numbers) or cipher."""
    vectors: str | None = None
    """Of a cipher start: vectors of the tokenizer's tokens; made of the run's own text if not given."""
    build: dict[str, Any] = field(default_factory=dict)
    """Of a cipher start without `vectors`: options of `bitcipher build`, such as mode, bits and radius."""
    scale: float | None = None
    """Spread of the table's numbers, as a multiple of the spread that the model itself begins with; 3 for a cipher
    start and 1 for a cold one if not given."""
    centered: bool = True
    """Take the mean of all rows away first."""
    output_bias: bool = False
    """Let the model's last bias, where it has one, start at the log of the tokens' frequencies."""
    frozen: float = 0.0
    """Share of the steps for which the table is not trained, at most."""
    thaw: str = "step"
    """When it is trained: step (after that share), or plateau: as soon as the held-out loss stops falling."""
    plateau: float = 0.01
    """Share by which the loss must fall from one evaluation to the next, not to have stopped."""
    rate: float = 1.0
    """Learning rate of the table once it is trained, as a share of that of the other weights."""
    alone: bool = False
    """Train nothing but the table. Its counterpart is frozen 1, which trains all but the table."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        _require(self.start in STARTS, f"There is no start {self.start!r}: choose {' or '.join(STARTS)}.")
        _require(self.thaw in THAWS, f"There is no way to thaw {self.thaw!r}: choose {' or '.join(THAWS)}.")
        _require(0 <= self.frozen <= 1, f"frozen is a share of the steps from 0 to 1, not {self.frozen}.")
        _require(self.scale is None or self.scale > 0, f"The scale must be above 0, not {self.scale}.")
        _require(self.rate >= 0, f"The table's rate must not be negative: {self.rate}.")
        _require(0 <= self.plateau < 1, f"plateau is a share from 0 to below 1, not {self.plateau}.")
        _require(
            not self.alone or self.frozen == 0,
            "A table that is trained alone cannot be frozen as well: give alone or frozen.",
        )
        _require(
            self.start == "cipher" or (self.vectors is None and not self.build),
            "vectors and build are of a cipher start: set start to cipher, or leave them out.",
        )
        _require(
            self.vectors is None or not self.build,
            "Vectors that are there are not built: give vectors or build, not both.",
        )

    @property
    def table_scale(self) -> float:
        """The scale that was chosen, or the default of the start."""
        if self.scale is not None:
            return self.scale
        return CIPHER_SCALE if self.start == "cipher" else 1.0


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BitcipherError(message)
