"""Reader of minimal pairs in the format of BLiMP (Warstadt et al. 2020): JSON lines."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.text_files import read_lines

_ENDING = ".jsonl"
_GOOD, _BAD, _PHENOMENON = "sentence_good", "sentence_bad", "linguistics_term"


class MinimalPair(NamedTuple):
    """Two sentences that differ in one grammatical phenomenon."""

    good: str
    """Grammatical sentence."""
    bad: str
    """Ungrammatical sentence."""
    phenomenon: str
    """`linguistics_term` of the pair; without it, the name of its file."""


def read_pairs(uri: str) -> list[MinimalPair]:
    """Read a file of minimal pairs, or all .jsonl files of a folder, in the order of their names.

    Each line is a JSON object with `sentence_good`, `sentence_bad` and optionally `linguistics_term`.

    Raises:
        BitcipherError: if there is no file, or a line is not such an object.
    """
    if uri.endswith(_ENDING):
        files = [uri]
    else:
        files = [storage.join(uri, name) for name in sorted(storage.list_files(uri)) if name.endswith(_ENDING)]
    pairs = [pair for file in files for pair in _read_file(file)]
    if not pairs:
        raise BitcipherError(f"{uri} has no minimal pairs; give a {_ENDING} file of BLiMP, or a folder of such files.")
    return pairs


def _read_file(uri: str) -> Iterator[MinimalPair]:
    name = uri.rstrip("/").rsplit("/", 1)[-1].removesuffix(_ENDING)
    for number, line in enumerate(read_lines(uri), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            raise BitcipherError(f"Line {number} of {uri} is not JSON; repair or remove it.") from None
        yield _pair(values, name, f"Line {number} of {uri}")


def _pair(values: object, name: str, where: str) -> MinimalPair:
    if not isinstance(values, dict):
        raise BitcipherError(f"{where} is not a JSON object with {_GOOD} and {_BAD}.")
    for key in (_GOOD, _BAD):
        if not isinstance(values.get(key), str) or not values[key].strip():
            raise BitcipherError(f"{where} has no text in {key}; a minimal pair needs {_GOOD} and {_BAD}.")
    phenomenon = values.get(_PHENOMENON)
    return MinimalPair(values[_GOOD], values[_BAD], phenomenon if isinstance(phenomenon, str) else name)
