"""Random changes of vector files: the table is equal, refused, or read with a warning that names the decision."""

import bz2
import gzip
import lzma
import random
import re
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bitcipher import BitcipherError, CipherVectors

pytestmark = pytest.mark.slow

CHANGES = 10_000

PLAIN = ["the", "of", "café", "naïve", "日本", "кот", "2008", "don't", "-", "e", "1e5", "<unk>", "x_y", "été"]
PHRASES = ["new york", "ice cream", "route 66", "olympics 2008", "at name@domain.com", ". . ."]


class TextFile:
    """A text file of vectors, as its parts, so that each can change."""

    def __init__(self, chance: random.Random):
        has_header = chance.random() < 0.6
        words = PLAIN + PHRASES if has_header and chance.random() < 0.5 else PLAIN
        self.words = chance.sample(words, chance.randint(3, 9))
        self.size = chance.randint(2, 5)
        self.rows = [
            [f"{chance.uniform(-9, 9):.{chance.randint(1, 6)}f}" for _ in range(self.size)] for _ in self.words
        ]
        self.header = [str(len(self.words)), str(self.size)] if has_header else []
        self.separators = (" ", " ", " ")  # in the header, after the word, between values
        self.names = list(self.words)
        self.end = "\n"
        self.encoding = "utf-8"
        self.name = "vectors.txt"
        self.edits: list[Callable[[list[str]], list[str]]] = []
        self.compress: Callable[[bytes], bytes] = bytes

    def content(self) -> bytes:
        """Return the bytes of the file."""
        in_header, after_word, between = self.separators
        lines = [in_header.join(self.header)] if self.header else []
        lines += [name + after_word + between.join(row) for name, row in zip(self.names, self.rows, strict=True)]
        for edit in self.edits:
            lines = edit(lines)
        return self.compress((self.end.join(lines) + self.end).encode(self.encoding, "replace"))

    def expected(self) -> dict[str, list[float]]:
        """Return the words and vectors."""
        rows = np.array(self.rows, np.float32).tolist()
        return dict(zip(self.words, rows, strict=True))


def separate(file: TextFile, chance: random.Random) -> None:
    separator = chance.choice(["\t", "  ", " \t", ",", ", ", ";", "; ", "|", ":", "=", " ,"])
    is_changed = [chance.random() < 0.6 for _ in range(3)]
    file.separators = tuple(separator if each else old for each, old in zip(is_changed, file.separators, strict=True))


def write_decimal_commas(file: TextFile, chance: random.Random) -> None:
    file.edits.append(lambda lines: [re.sub(r"(?<=\d)\.(?=\d)", ",", line) for line in lines])


def add_brackets(file: TextFile, chance: random.Random) -> None:
    left, right = chance.choice(["[]", "()", ("[ ", " ]"), ("", "]"), ("[", "")])
    start = 1 if file.header else 0
    after = file.separators[1]

    def surround(lines: list[str]) -> list[str]:
        changed = [line.replace(after, after + left, 1) + right for line in lines[start:]]
        return lines[:start] + changed

    if not any(" " in name for name in file.names):
        file.edits.append(surround)


def quote_words(file: TextFile, chance: random.Random) -> None:
    mark = chance.choice("\"'")
    file.names = [mark + name + mark for name in file.names]


def add_blank_lines(file: TextFile, chance: random.Random) -> None:
    position, blank = chance.random(), chance.choice(["", " ", "\t"])

    def insert(lines: list[str]) -> list[str]:
        at = round(position * len(lines))
        return [*lines[:at], blank, *lines[at:]]

    file.edits.append(insert)


def add_trailing_space(file: TextFile, chance: random.Random) -> None:
    space = chance.choice([" ", "  ", "\t"])
    file.edits.append(lambda lines: [line + space for line in lines])


def indent(file: TextFile, chance: random.Random) -> None:
    space = chance.choice([" ", "  ", "\t"])
    file.edits.append(lambda lines: [space + line for line in lines])


def change_line_ends(file: TextFile, chance: random.Random) -> None:
    file.end = chance.choice(["\r\n", "\r", "\n\n", "\r\r\n", "\n\r"])


def change_encoding(file: TextFile, chance: random.Random) -> None:
    codecs = [
        "utf-8-sig",
        "utf-16",
        "utf-32",
        "utf-16-le",
        "utf-16-be",
        "utf-32-le",
        "cp1252",
        "cp1251",
        "gbk",
        "cp500",
    ]
    file.encoding = chance.choice(codecs)


def compress(file: TextFile, chance: random.Random) -> None:
    file.compress = chance.choice([gzip.compress, bz2.compress, lzma.compress, zlib.compress])


def rename(file: TextFile, chance: random.Random) -> None:
    names = ["v.bin", "v.vec.gz", "v.bz2", "v.zip", "v.parquet", "v.safetensors", "v.npy", "v.csv", "v.model", "v"]
    file.name = chance.choice(names)


def change_header(file: TextFile, chance: random.Random) -> None:
    if not file.header:
        file.header = [str(len(file.words)), str(file.size)]
    elif chance.random() < 0.3:
        file.header = []
    else:
        changed = chance.randrange(2)
        file.header[changed] = str(max(0, int(file.header[changed]) + chance.choice([-1, 1, 100])))


def cut(file: TextFile, chance: random.Random) -> None:
    """Remove the last values of the last line. If its word ends in a number, nothing shows that they are missing."""
    if file.words[-1][-1].isdigit():
        return
    left = chance.randint(0, file.size - 1)
    file.rows[-1] = file.rows[-1][:left]
    file.rows[-1] += [] if left else [""]


def add_value(file: TextFile, chance: random.Random) -> None:
    file.rows[chance.randrange(len(file.rows))].append("1.5")


def spoil_value(file: TextFile, chance: random.Random) -> None:
    row = chance.choice(file.rows)
    row[chance.randrange(len(row))] = chance.choice(["x", "nan", "inf", "1_0", "0x1p3", "--1", "1e", "−1", "1e400"])


ALL = [
    separate, separate, write_decimal_commas, add_brackets, quote_words, add_blank_lines, add_trailing_space, indent,
    change_line_ends, change_encoding, compress, rename, change_header, cut, add_value, spoil_value,
]  # fmt: skip


DAMAGE = {cut, add_value, spoil_value}


def read(path: Path) -> tuple[dict[str, list[float]] | None, list[str]]:
    """Return the words and vectors of a file, None if it is refused, and the warnings."""
    with warnings.catch_warnings(record=True) as decisions:
        warnings.simplefilter("always")
        try:
            vectors = CipherVectors.load(path)
        except BitcipherError:
            return None, []
    rows = dict(zip(vectors.index_to_key, np.asarray(vectors.vectors).tolist(), strict=True))
    return rows, [str(decision.message) for decision in decisions]


def is_lossless(file: TextFile) -> bool:
    """Return whether the words survive the encoding of the file."""
    return all(name.encode(file.encoding, "replace").decode(file.encoding) == name for name in file.names)


@pytest.mark.parametrize("seed", range(10))
def test_no_change_gives_other_vectors_in_silence(tmp_path, seed):
    chance = random.Random(seed)
    ends = {"equal": 0, "refused": 0, "warned": 0}
    for number in range(CHANGES // 10):
        file = TextFile(chance)
        expected = file.expected()
        chosen = chance.sample(ALL, chance.choice([1, 1, 2, 3]))
        if len(DAMAGE.intersection(chosen)) > 1:  # which could together give a line that is complete
            chosen = chosen[:1]
        for change in chosen:
            change(file, chance)
        path = tmp_path / f"{number}-{file.name}"
        content = file.content()
        path.write_bytes(content)
        found, decisions = read(path)
        path.unlink()
        end = "refused" if found is None else "equal" if found == expected else "warned" if decisions else ""
        names = [change.__name__ for change in chosen]
        assert end or not is_lossless(file), (number, names, content[:400], found)
        ends[end or "equal"] += 1
    assert all(count > CHANGES // 200 for count in ends.values()), ends


def test_files_without_a_change_are_equal(tmp_path):
    chance = random.Random(99)
    for number in range(500):
        file = TextFile(chance)
        (tmp_path / "file").write_bytes(file.content())
        found, _ = read(tmp_path / "file")
        assert found == file.expected(), number
