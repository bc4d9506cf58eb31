"""Options of text generation. Names follow `transformers.GenerationConfig`."""

from typing import Self

from pydantic import Field, model_validator

from bitcipher.files.records import Float, Record


class DecodingOptions(Record):
    """Greedy search if `temperature` is 0, else sampling."""

    max_new_tokens: int = Field(40, ge=1)
    """Maximum number of new tokens."""
    temperature: Float = Field(0.0, ge=0)
    """Sampling temperature; 0 always takes the most likely token."""
    top_k: int | None = Field(None, ge=1)
    """Sample from the `top_k` most likely tokens only."""
    top_p: Float | None = Field(None, gt=0, le=1)
    """Sample from the smallest set of most likely tokens whose probabilities sum to at least `top_p`."""
    seed: int = 1
    """Seed of sampling; each prompt has its own random numbers."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.temperature == 0 and (self.top_k is not None or self.top_p is not None):
            raise ValueError("`top_k` and `top_p` need sampling; set `temperature`, for example to 1.")
        return self
