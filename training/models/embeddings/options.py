"""Options of the token embeddings: initialization, freezing and learning rate."""

from typing import Any, Literal

from pydantic import Field, model_validator

from bitcipher.files.records import Float, Record

# A small GPT-2 with tied embeddings learned as fast with scale 6, and more slowly with scale 1.
DEFAULT_CIPHER_SCALE = 3.0


class EmbeddingInitOptions(Record):
    """Initialization of the token embeddings, and the steps in which they are trained."""

    init: Literal["random", "cipher"] = "random"
    """Initial embeddings: `random` keeps the model's random embeddings; `cipher` replaces them with cipher vectors."""
    vectors: str | None = None
    """With `init: cipher`: folder of vectors of the tokenizer's tokens; by default, they are built from the run's
    training text."""
    build: dict[str, Any] = Field(default_factory=dict)
    """With `init: cipher` and without `vectors`: options of `bitcipher build`, such as mode, bits and window."""
    scale: Float | None = Field(None, gt=0)
    """Root mean square of the initial embeddings, as a multiple of that of the model's random embeddings; by default 3
    with `init: cipher` and 1 with `init: random`."""
    centered: bool = True
    """Subtract the mean of the vectors."""
    output_bias: bool = False
    """Initialize the output bias, if the model has one, with the log frequencies of the tokens."""
    freeze_fraction: Float = Field(0.0, ge=0, le=1)
    """Fraction of the steps, from the first one on, in which the embeddings are frozen."""
    unfreeze: Literal["step", "plateau"] = "step"
    """Time of unfreezing: `step` after `freeze_fraction` of the steps; `plateau` earlier, if the validation loss stops
    decreasing before."""
    plateau_threshold: Float = Field(0.01, ge=0, lt=1)
    """With `unfreeze: plateau`: minimum relative decrease of the validation loss between two evaluations; with a
    smaller decrease, the embeddings are unfrozen."""
    learning_rate_multiplier: Float = Field(1.0, ge=0)
    """Learning rate of the embeddings, as a multiple of that of the other weights."""
    train_embeddings_only: bool = False
    """Train only the embeddings. To train everything else instead, set `freeze_fraction` to 1."""

    @model_validator(mode="after")
    def _check(self) -> "EmbeddingInitOptions":
        if self.train_embeddings_only and self.freeze_fraction > 0:
            raise ValueError(
                "`embeddings.train_embeddings_only` and `embeddings.freeze_fraction` exclude each other; set one."
            )
        if self.init == "random" and (self.vectors is not None or self.build):
            raise ValueError(
                "`embeddings.vectors` and `embeddings.build` need `embeddings.init` to be cipher; set it, or leave "
                "them out."
            )
        if self.vectors is not None and self.build:
            raise ValueError("`embeddings.vectors` and `embeddings.build` exclude each other; set one of them.")
        return self

    @property
    def effective_scale(self) -> float:
        """`scale`, or its default for `init` if it is not set."""
        if self.scale is not None:
            return self.scale
        return DEFAULT_CIPHER_SCALE if self.init == "cipher" else 1.0
