"""What can go wrong by a user's hand, told in one plain sentence.

The command prints such a sentence on stderr and exits with 2; everything else is a bug and keeps its traceback.
"""


class BitcipherError(Exception):
    """A mistake that the user can mend: the message says what is wrong, where, and what to do."""


class UnknownWordError(BitcipherError, KeyError):
    """A word was asked for that the vectors do not hold."""

    # KeyError would show the message in quotes, as if it were the key.
    __str__ = Exception.__str__


def first_line(error: object) -> str:
    """The first line of a message, without a full stop: Ray's messages are long."""
    return next(iter(str(error).strip().splitlines()), "no reason given").rstrip(".")
