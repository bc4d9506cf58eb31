"""Interface of cleaning rules."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bitcipher.files.records import Record
from pipelines.clean.document import Document

Fraction = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class Drop:
    """Decision to drop a document.

    Attributes:
        reason: short, stable reason, such as "too few words". It is a key of statistics, so it has no numbers of the
            document.
    """

    reason: str


class CleaningRule(Record):
    """Rule that keeps, changes or drops a document. Its fields are its options.

    A subclass has a field `rule`, the literal name of the rule in recipes.
    """

    rule: str
    """Name of the rule."""

    def paths(self) -> tuple[str, ...]:
        """Return the files that the rule reads. Their contents determine its decisions."""
        return ()

    def load(self) -> None:
        """Load the files and models that the rule needs. Call this before the first document, to find mistakes early.

        Raises:
            BitcipherError: if a file is missing or has no content that the rule can use, or if an option does not fit a
                model.
        """

    @abstractmethod
    def apply(self, document: Document) -> Document | Drop:
        """Return the same document if it is kept, a new document if it is changed, or a `Drop`. Never fails."""
        raise NotImplementedError


def ratio(part: int, whole: int) -> float:
    """Return part / whole, or 0 if both are 0, as for an empty text."""
    return part / whole if whole else 0.0
