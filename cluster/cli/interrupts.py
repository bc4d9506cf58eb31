"""Message of a resumable command that is interrupted."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from bitcipher.terminal import print_text

# Argument of `resumable` for commands that train.
TRAINING_KEPT = "Training up to the last checkpoint is kept"


@contextmanager
def resumable(kept: str = "Counted shards are kept") -> Iterator[None]:
    """On Ctrl-C or SIGTERM, print how to resume and exit with the code of the signal.

    Args:
        kept: the work that is not lost, as the beginning of a sentence.
    """
    try:
        yield
    except KeyboardInterrupt:
        _print_advice(kept)
        raise typer.Exit(128 + signal.SIGINT) from None
    except SystemExit:
        _print_advice(kept)
        raise


def _print_advice(kept: str) -> None:
    print_text(f"bitcipher: interrupted. {kept}: run the same command again to resume.", err=True)
