"""Errors that users can correct, with messages of one plain sentence.

The command line prints the message on stderr and exits with code 2. Any other exception is a bug and keeps its
traceback.
"""

from bitcipher.redaction import escape_controls, redact

# Maximum number of characters of a message. A longer one shows its beginning and its end, because values in the middle
# can have any length.
MAX_CHARACTERS = 2000


class BitcipherError(Exception):
    """An error that the user can correct. The message says what is wrong, where, and how to fix it.

    Messages name files and addresses, so credentials are removed, and control characters are escaped. Long messages
    are shortened.
    """

    def __init__(self, *messages: object):
        super().__init__(*(_clean(each) if isinstance(each, str) else each for each in messages))


class UnknownWordError(BitcipherError, KeyError):
    """Error for a key that is not in the vocabulary of the vectors.

    Attributes:
        problem: the message without the advice, which names arguments of Python. The command line prints this part.
    """

    def __init__(self, message: str, advice: str = ""):
        super().__init__(f"{message} {advice}".rstrip())
        self.problem = _clean(message)

    # KeyError would show the message in quotes, as if it were the key.
    __str__ = Exception.__str__


def _clean(message: str) -> str:
    text = redact(escape_controls(message))
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS // 2]} … {text[-MAX_CHARACTERS // 2 :]}"


def first_line(error: object) -> str:
    """Return the first line of an error message, without a final period. Ray's messages have many lines."""
    return next(iter(str(error).strip().splitlines()), "no reason given").rstrip(".")


def last_line(error: object) -> str:
    """Return the last line of an error message, without a final period: the original exception of a traceback."""
    return first_line("\n".join(reversed(str(error).strip().splitlines())))
