"""Random damage to the content of files, and what a command did with it."""

import random
from collections.abc import Iterator
from pathlib import Path

from forked_commands import Outcome


def damages(content: bytes, state: random.Random, flips: int, cuts: int) -> Iterator[bytes]:
    """Yield the content with one flipped bit each, and then cut at a random position each."""
    for _ in range(flips):
        position = state.randrange(len(content))
        yield content[:position] + bytes([content[position] ^ 1 << state.randrange(8)]) + content[position + 1 :]
    for _ in range(cuts):
        yield content[: state.randrange(len(content))]


def judge(outcome: Outcome, intact: Outcome, file: Path) -> str:
    """Return what a command did with a damaged file."""
    if outcome.is_crash:
        return "crash"
    if outcome.has_traceback:
        return "traceback"
    if outcome.code == intact.code and outcome.result == intact.result and (intact.result or outcome.out == intact.out):
        return "unchanged"
    # A part is named by its files; files of vectors also by their folder.
    return "noticed" if outcome.names(file.name, file.name.split(".")[0], str(file.parent)) else "silent"
