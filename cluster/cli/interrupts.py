"""Exit on SIGTERM, and the message of a resumable command that is interrupted."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from bitcipher.terminal import print_text

# Argument of `resumable` for commands that train.
CHECKPOINTS = "checkpoints"


@contextmanager
def resumable(kept: str = "counted shards") -> Iterator[None]:
    """On Ctrl-C or SIGTERM, print how to resume and exit with the code of the signal.

    Args:
        kept: the results that are not lost, in the plural.
    """
    try:
        yield
    except KeyboardInterrupt:
        _print_advice(kept)
        raise typer.Exit(128 + signal.SIGINT) from None
    except SystemExit:
        _print_advice(kept)
        raise


@contextmanager
def exiting_on_sigterm() -> Iterator[None]:
    """On SIGTERM, unwind the stack, so that a job releases its lease, and exit with code 143.

    Further SIGTERMs are ignored, because they would interrupt this. The previous handler returns at the end.
    """
    received = False

    def exit(number: int, frame: object) -> NoReturn:
        nonlocal received
        received = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise SystemExit(128 + number)

    previous = signal.signal(signal.SIGTERM, exit)
    try:
        yield
    except SystemExit:
        if received:  # Ray replaces the exception by one with code 1
            raise SystemExit(128 + signal.SIGTERM) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, previous)


def _print_advice(kept: str) -> None:
    sentence = (
        f"interrupted: run the same command again to resume after the {kept} that are finished, if there are any."
    )
    print_text(f"bitcipher: {sentence}", err=True)
