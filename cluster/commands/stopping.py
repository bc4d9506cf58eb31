"""What is said when a command is stopped that can go on where it was."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def resumable() -> Iterator[None]:
    """A block that may be stopped by Ctrl-C or SIGTERM: then say how to go on, and end with the signal's code."""
    try:
        yield
    except KeyboardInterrupt:
        _say()
        raise typer.Exit(128 + signal.SIGINT) from None
    except SystemExit:
        _say()
        raise


def _say() -> None:
    typer.echo("bitcipher: stopped. What is counted is kept: to go on, run the same command again.", err=True)
