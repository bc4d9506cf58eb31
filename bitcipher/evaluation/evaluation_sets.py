"""Readers of evaluation sets: scored word pairs, and analogy questions in sections."""

import math
import os
from collections.abc import Iterator
from typing import NamedTuple

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.text_files import read_lines


class ScoredPair(NamedTuple):
    """Two words and their human similarity score."""

    first: str
    second: str
    score: float


class AnalogyQuestion(NamedTuple):
    """Question of the form "a is to b as c is to which word?" with the expected answer."""

    a: str
    b: str
    c: str
    expected: str


def read_pairs(uri: str | os.PathLike[str], delimiter: str | None = None) -> list[ScoredPair]:
    """Return the pairs of a word-similarity set, with two words and a score per line.

    The first line is a header if its third column is not a number. Empty lines and lines that begin with # are
    skipped.

    Args:
        uri: a text file in UTF-8, or with a byte-order mark.
        delimiter: column separator; by default tabs in lines that have tabs, otherwise spaces.

    Raises:
        BitcipherError: if the file is missing or empty, or if a line is invalid.
    """
    uri = os.fspath(uri)
    pairs: list[ScoredPair] = []
    for index, (number, line) in enumerate(_iter_lines(uri)):
        columns = [c.strip() for c in line.split(delimiter or ("\t" if "\t" in line else None))]
        if len(columns) != 3 or not all(columns):
            raise BitcipherError(
                f"Line {number} of {uri} has {len(columns)} columns. A word pair has three: two words and a score, "
                "separated by tabs or spaces."
            )
        score = _parse_score(columns[2])
        if score is not None and math.isfinite(score):
            pairs.append(ScoredPair(columns[0], columns[1], score))
        elif index or score is not None:
            kind = "a number" if score is None else "finite"
            raise BitcipherError(f"The score in line {number} of {uri} must be {kind}, got {columns[2]!r}.")
    if not pairs:
        raise BitcipherError(f"{uri} contains no word pairs.")
    return pairs


def read_analogies(uri: str | os.PathLike[str]) -> dict[str, list[AnalogyQuestion]]:
    """Return the questions of a set in Google's format: four words per line, in sections that begin with ": name".

    Raises:
        BitcipherError: if the file is missing or empty, or if a line is invalid or precedes the first section.
    """
    uri = os.fspath(uri)
    sections: dict[str, list[AnalogyQuestion]] = {}
    for number, line in _iter_lines(uri):
        words = line.split()
        if line.startswith(":"):
            section = sections.setdefault(line[1:].strip(), [])
        elif len(words) != 4:
            raise BitcipherError(f"Line {number} of {uri} has {len(words)} words. An analogy question has four.")
        elif not sections:
            raise BitcipherError(f'Line {number} of {uri} precedes the first section: begin with a line ": name".')
        else:
            section.append(AnalogyQuestion(*words))
    if not any(sections.values()):
        raise BitcipherError(f"{uri} contains no analogy questions.")
    return sections


def list_similarity_files(uri: str) -> list[str]:
    """Return a word-similarity file, or all files of a folder except analogy questions."""
    filesystem, path = storage.url_to_fs(uri)
    if not filesystem.isdir(path):
        return [uri]
    files = [storage.join(uri, name) for name in storage.list_files(uri)]
    files = [file for file in files if not next((line for _, line in _iter_lines(file)), "").startswith(":")]
    if not files:
        raise BitcipherError(f"{uri} contains no files of word pairs.")
    return files


def _parse_score(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _iter_lines(uri: str) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line, except empty lines and comments."""
    for number, line in enumerate(read_lines(uri), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()
