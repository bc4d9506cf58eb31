"""Options of the token embeddings: initialization, freezing and learning rate."""

from typing import Any, Literal

from pydantic import Field, model_validator

from bitcipher.records import Float, Record

# A small GPT-2 with tied embeddings learned as fast from 6, and more slowly from 1 (training/README.md).
DEFAULT_CIPHER_SCALE = 3.0


class EmbeddingInitOptions(Record):
    """Initialization of the token embeddings, and when they are trained."""

    init: Literal["random", "cipher"] = "random"
    """`random` keeps the model's random initialization; `cipher` starts from cipher vectors."""
    vectors: str | None = None
    """Folder of vectors of the tokenizer's tokens, for `cipher`; built from the run's own text by default."""
    build: dict[str, Any] = Field(default_factory=dict)
    """Options of `bitcipher build`, such as mode, bits and window, for `cipher` without `vectors`."""
    scale: Float | None = Field(None, gt=0)
    """Root mean square of the embeddings, as a multiple of that of the model's random ones; 3 for `cipher` and 1 for
    `random` by default."""
    centered: bool = True
    """Subtract the mean of the vectors."""
    output_bias: bool = False
    """Initialize the output bias, if the model has one, with the log frequencies of the tokens."""
    freeze_fraction: Float = Field(0.0, ge=0, le=1)
    """Fraction of the steps for which the embeddings are frozen."""
    unfreeze: Literal["step", "plateau"] = "step"
    """`step` unfreezes after `freeze_fraction` of the steps; `plateau` also when the validation loss stops falling."""
    plateau_threshold: Float = Field(0.01, ge=0, lt=1)
    """Relative decrease of the validation loss between two evaluations below which it has stopped falling."""
    learning_rate_multiplier: Float = Field(1.0, ge=0)
    """Learning rate of the embeddings, as a multiple of that of the other weights."""
    train_embeddings_only: bool = False
    """Train only the embeddings. For the opposite, set `freeze_fraction` to 1."""

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
        """The scale, or its default for the initialization."""
        if self.scale is not None:
            return self.scale
        return DEFAULT_CIPHER_SCALE if self.init == "cipher" else 1.0
