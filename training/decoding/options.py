"""How the next token is chosen."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError


@dataclass(frozen=True)
class DecodingOptions:
    """Greedy without a temperature, else sampled."""

    tokens: int = 40
    """New tokens at most; a text may end before."""
    temperature: float = 0.0
    """0 takes the likeliest token; 1 samples as the model says, less makes it surer, more bolder."""
    top_k: int | None = None
    """Sample among so many of the likeliest tokens."""
    top_p: float | None = None
    """Sample among the likeliest tokens that together have this share."""
    seed: int = 1
    """Of sampling; each prompt has its own numbers."""

    def __post_init__(self) -> None:
        """Refuse what cannot be sampled."""
        _require(self.tokens >= 1, f"There must be at least 1 new token, not {self.tokens}.")
        _require(self.temperature >= 0, f"The temperature must not be negative: {self.temperature}.")
        _require(self.top_k is None or self.top_k >= 1, f"top_k must be at least 1, not {self.top_k}.")
        _require(self.top_p is None or 0 < self.top_p <= 1, f"top_p is a share above 0, up to 1, not {self.top_p}.")
        _require(
            self.temperature > 0 or (self.top_k is None and self.top_p is None),
            "top_k and top_p are of sampling: give a temperature too, such as 1.",
        )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BitcipherError(message)
