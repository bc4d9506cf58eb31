"""Memory of reading small compressed files that hold much: at most three times the table, or a refusal."""

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

# The first file imports all modules. The script prints the growth of the peak memory while the second one is read, and
# the bytes of its table or the sentence that refuses it.
SCRIPT = """
import sys, warnings
from bitcipher import BitcipherError
from bitcipher.formats.reader import read

def peak_bytes():
    with open("/proc/self/status") as stream:
        return 1024 * int(stream.read().partition("VmHWM:")[2].split()[0])

read(sys.argv[1])
before = peak_bytes()
try:
    table = read(sys.argv[2])
    result = table.vectors.nbytes + table.words.nbytes + table.norms.nbytes
except BitcipherError as error:
    result = error
print(peak_bytes() - before, result)
"""

# Blocks of bytes and Python objects while a file is read, whatever its size.
BLOCK_BYTES = 80 << 20


def write_gzip(path: Path, blocks: Iterator[bytes]) -> None:
    with gzip.open(path, "wb", 9) as stream:
        for block in blocks:
            stream.write(block)


def measure_reading(tmp_path: Path, first: bytes, blocks: Iterator[bytes]) -> tuple[int, str]:
    """Return the growth of the peak memory in bytes, and the bytes of the table, or the sentence of a refusal."""
    write_gzip(tmp_path / "first", iter([first]))
    write_gzip(tmp_path / "file", blocks)
    assert (tmp_path / "file").stat().st_size < 1_500_000
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "first", tmp_path / "file"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    grown, _, text = result.stdout.strip().partition(" ")
    return int(grown), text


TEXT, BINARY = b"the 1 2\n", b"1 1\nthe \x01\x02\x03\x04"

TABLES = {
    "long": (TEXT, lambda: (b"w%d " % row + b"0 " * 299 + b"0\n" for row in range(100_000))),
    "wide": (TEXT, lambda: (b"w%d " % row + b"0 " * 199_999 + b"0\n" for row in range(100))),
    "narrow": (TEXT, lambda: (b"w%d 0\n" % row for row in range(500_000))),
    "binary": (BINARY, lambda: iter([b"100000 300\n", *(b"w%d " % row + bytes(1200) for row in range(100_000))])),
}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="measures memory as Linux reports it")
@pytest.mark.parametrize("name", TABLES)
def test_reading_takes_at_most_three_times_the_table(tmp_path, name):
    first, make_blocks = TABLES[name]
    grown, size = measure_reading(tmp_path, first, make_blocks())
    assert grown < 3 * int(size) + BLOCK_BYTES


NO_TABLES = {
    "repeated words": (b"x 1\n" * (1 << 20), 24),
    "blank lines": (b"\n" * (1 << 20), 200),
    "blank lines between words": (b"\n" * (1 << 19) + b"x 1\n" + b" \n" * (1 << 19), 100),
    "one line": (b"x 1 " * (1 << 18), 200),
    "one word": (b"x" * (1 << 20), 200),
    "NUL": (bytes(1 << 20), 200),
}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="measures memory as Linux reports it")
@pytest.mark.parametrize("name", NO_TABLES)
def test_small_files_without_a_table_are_refused_early(tmp_path, name):
    block, count = NO_TABLES[name]
    grown, sentence = measure_reading(tmp_path, TEXT, (block for _ in range(count)))
    assert "not a table of vectors" in sentence or "does not end" in sentence
    assert grown < 3 * BLOCK_BYTES


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="measures memory as Linux reports it")
def test_repeated_words_take_no_memory(tmp_path):
    # Each word is often repeated, but not often enough for a refusal.
    lines = [b"w%d " % row + b"0 " * 299 + b"0\n" for row in range(10_000)]
    grown, size = measure_reading(tmp_path, TEXT, (line for _ in range(8) for line in lines))
    assert int(size) < 10_000 * 300 * 4 * 1.1
    assert grown < BLOCK_BYTES + 3 * int(size)
