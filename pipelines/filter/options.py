"""What can be chosen of a reduced language."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError
from pipelines.ingest.readers import ReadOptions

LEVELS = ("spans", "sentences", "both")


@dataclass(frozen=True)
class FilterOptions:
    """How a corpus is cut, and what is kept; the defaults are the paper's (section 3.2)."""

    level: str = "both"
    """Keep spans, sentences, or both."""
    span: int = 110
    """Words of a span, between white space."""
    stride: int = 30
    """Words from the start of a span to that of the next."""
    held_out_share: float = 0.01
    """Of documents: the text of so many goes into the development part, and of as many into the test part."""
    unconstrained: bool = True
    """Draw the twin of all words too."""
    top: int | None = None
    """The vocabulary is cut to that many words, the most frequent."""
    seed: int = 0
    """Of which spans the twin has."""
    document: str = "line"
    """In plain text: each line is a document, or the whole file."""
    field: str = "text"
    """The field of JSON lines, or the column of Parquet, that holds the text."""

    def __post_init__(self) -> None:
        """Refuse what makes no language."""
        ReadOptions(self.document, self.field)
        _require(self.level in LEVELS, f"The level is {self.level!r}: choose {', '.join(LEVELS)}.")
        _require(self.span >= 1, f"A span has {self.span} words: it should have 1 or more.")
        _require(
            1 <= self.stride <= self.span,
            f"The stride is {self.stride} words, and a span {self.span}: choose a stride of 1 up to the span, "
            "or words between spans would never be looked at.",
        )
        _require(
            0 <= self.held_out_share < 0.5,
            f"The share of each of two held-out parts is {self.held_out_share}: choose 0 or more, below 0.5.",
        )
        _require(
            self.top is None or self.top >= 1,
            f"A vocabulary of the {self.top} most frequent words is empty: choose more.",
        )

    @property
    def levels(self) -> tuple[str, ...]:
        """What is kept: spans, sentences or both of them."""
        return ("spans", "sentences") if self.level == "both" else (self.level,)

    @property
    def shortest(self) -> int:
        """Words that a span has at least: 41 of 110, as in the study's own code; in proportion for other spans."""
        return max(1, self.span * 3 // 8)

    @property
    def reading(self) -> ReadOptions:
        """What a document is."""
        return ReadOptions(self.document, self.field)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BitcipherError(message)
