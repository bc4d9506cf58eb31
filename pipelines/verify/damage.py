"""Damaged files, and checks that find them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from bitcipher.errors import BitcipherError


@dataclass(frozen=True)
class Damage:
    """A damaged or missing file."""

    sentence: str
    """What is wrong with which file."""
    advice: str
    """What the file holds, and how to replace it."""


class Check(Protocol):
    """A check of some files that are read together."""

    @property
    def size(self) -> int:
        """Number of bytes that the check reads."""
        ...

    def find_damage(self) -> list[Damage]:
        """Read the files, and return those that are damaged."""
        ...


@dataclass(frozen=True)
class VerifiedFiles:
    """Output of `VerifyStage`."""

    size: int
    """Number of bytes that the check read."""
    damage: list[Damage]


class VerifyStage:
    """Stage that runs checks."""

    def __call__(self, item: Check) -> Iterator[VerifiedFiles]:
        """Yield what a check found."""
        yield VerifiedFiles(item.size, item.find_damage())


@dataclass(frozen=True)
class KnownDamage:
    """Check of a file that is already known to be damaged."""

    sentence: str
    advice: str
    size: int = 0

    def find_damage(self) -> list[Damage]:
        """Return the damage."""
        return [Damage(self.sentence, self.advice)]


def error_of(action, *arguments) -> str | None:
    """Return the message of the error that a call raises, or None if it succeeds."""
    try:
        action(*arguments)
    except BitcipherError as error:
        return str(error)
    return None
