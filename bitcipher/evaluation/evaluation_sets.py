"""The files that evaluation sets come in: pairs of words with a score, and questions of analogy in sections."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from bitcipher import storage
from bitcipher.errors import BitcipherError


class ScoredPair(NamedTuple):
    """Two words, and how alike people find them."""

    first: str
    second: str
    score: float


class AnalogyQuestion(NamedTuple):
    """a is to b as c is to `expected`."""

    a: str
    b: str
    c: str
    expected: str


def read_pairs(uri: str | os.PathLike[str], delimiter: str | None = None) -> list[ScoredPair]:
    """The pairs of a word-similarity set: two words and a score a line.

    A first line that has no number for a score is taken for the names of the columns; empty lines and those that
    begin with # are passed over.

    Args:
        uri: a text file in UTF-8.
        delimiter: between columns; by default tabs where a line has some, else spaces.

    Raises:
        BitcipherError: if the file is missing or empty, or if a line has other columns.
    """
    uri = os.fspath(uri)
    pairs: list[ScoredPair] = []
    for place, (number, line) in enumerate(_lines(uri)):
        columns = [c.strip() for c in line.split(delimiter or ("\t" if "\t" in line else None))]
        if len(columns) != 3 or not all(columns):
            raise BitcipherError(
                f"Line {number} of {uri} has {len(columns)} columns, where pairs of words have three: two words and a "
                "score, with tabs or spaces between them."
            )
        try:
            pairs.append(ScoredPair(columns[0], columns[1], float(columns[2])))
        except ValueError:
            if place:
                raise BitcipherError(f"Line {number} of {uri} has the score {columns[2]!r}, not a number.") from None
    if not pairs:
        raise BitcipherError(f"{uri} holds no pairs of words.")
    return pairs


def read_analogies(uri: str | os.PathLike[str]) -> dict[str, list[AnalogyQuestion]]:
    """The questions of a set in the form of Google's: four words a line, in sections that begin with ": name".

    Raises:
        BitcipherError: if the file is missing or empty, if a line has other columns, or stands before any section.
    """
    uri = os.fspath(uri)
    sections: dict[str, list[AnalogyQuestion]] = {}
    for number, line in _lines(uri):
        words = line.split()
        if line.startswith(":"):
            section = sections.setdefault(line[1:].strip(), [])
        elif len(words) != 4:
            raise BitcipherError(f"Line {number} of {uri} has {len(words)} words, where a question has four.")
        elif not sections:
            raise BitcipherError(f'Line {number} of {uri} stands before any section: the first line is ": name".')
        else:
            section.append(AnalogyQuestion(*words))
    if not any(sections.values()):
        raise BitcipherError(f"{uri} holds no questions of analogy.")
    return sections


def similarity_files(uri: str) -> list[str]:
    """The word-similarity sets that a name stands for: the file, or all in the folder but questions of analogy."""
    filesystem, path = storage.url_to_fs(uri)
    if not filesystem.isdir(path):
        return [uri]
    files = [storage.join(uri, name) for name in storage.list_files(uri)]
    files = [file for file in files if not next((line for _, line in _lines(file)), "").startswith(":")]
    if not files:
        raise BitcipherError(f"{uri} holds no files of word pairs.")
    return files


def _lines(uri: str) -> Iterator[tuple[int, str]]:
    with storage.reading(uri) as stream:
        content = stream.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BitcipherError(f"{uri} is not text in UTF-8: {error}.") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()
