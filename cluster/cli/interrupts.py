"""What is said when a command is stopped that can go on where it was."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import typer

# Of training, see `resumable`.
TRAINED = "What is trained up to the last checkpoint is kept"


@contextmanager
def resumable(kept: str = "What is counted is kept") -> Iterator[None]:
    """A block that may be stopped by Ctrl-C or SIGTERM: then say how to go on, and end with the signal's code.

    Args:
        kept: what is not lost, as the beginning of a sentence.
    """
    try:
        yield
    except KeyboardInterrupt:
        _say(kept)
        raise typer.Exit(128 + signal.SIGINT) from None
    except SystemExit:
        _say(kept)
        raise


def _say(kept: str) -> None:
    typer.echo(f"bitcipher: stopped. {kept}: to go on, run the same command again.", err=True)
