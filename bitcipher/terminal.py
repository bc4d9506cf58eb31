"""Output of commands. Names and words come from data, so their control characters are shown as escapes."""

import sys

from bitcipher.redaction import escape_controls


def show_controls(text: str) -> str:
    """Return a text with its control characters escaped, except line breaks and tabs."""
    if text.isprintable():
        return text
    return "\n".join("\t".join(map(escape_controls, line.split("\t"))) for line in text.split("\n"))


def print_text(text: str, end: str = "\n", *, err: bool = False) -> None:
    """Print a text to stdout or stderr. Commands print with this function, or on `VisibleConsole`."""
    print(show_controls(text), end=end, file=sys.stderr if err else sys.stdout, flush=True)
