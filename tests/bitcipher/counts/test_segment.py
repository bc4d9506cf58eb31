from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bitcipher import BitcipherError
from bitcipher.counts.pairs import PairBlock, concatenate, iter_pairs
from bitcipher.counts.segment import SEGMENT_WORDS, part_files, read_words, remove_part, write_part

MAX_WORDS = 1 << 31

# The words b, é and 😀 have the numbers 2, 0 and 1; 😀 has no rows.
WORDS = pa.array(["b", "é", "😀"], pa.large_string())
NUMBERS = np.array([2, 0, 1], np.int32)
COUNTS = np.array([1, 5, 2**40])
PASSAGES = np.array([1, 2, 3])
BLOCKS = [
    PairBlock(
        np.array([2, 2], np.int32),
        np.array([1, 2], np.int16),
        np.array([2, 1]),
        np.array([0, 1, 0], np.int32),
        np.array([3, 1, 2**40]),
    ),
    PairBlock(np.array([0], np.int32), np.array([1], np.int16), np.array([1]), np.array([1], np.int32), np.array([7])),
]


@pytest.fixture
def part(tmp_path):
    uri = str(tmp_path / "part")
    assert write_part(uri, WORDS, NUMBERS, COUNTS, PASSAGES, BLOCKS).entries == 4
    return uri


def test_a_part_reads_back_as_written(part):
    table = read_words([part])
    assert table.schema.equals(SEGMENT_WORDS)
    assert table.to_pydict() == {
        "word": WORDS.to_pylist(),
        "number": NUMBERS.tolist(),
        "count": COUNTS.tolist(),
        "passages": PASSAGES.tolist(),
        "rows": [2, 1, 0],
        "entries": [3, 1, 0],
    }
    for read, written in zip(concatenate(iter_pairs(part, MAX_WORDS)), concatenate(BLOCKS), strict=True):
        assert read.dtype == written.dtype
        np.testing.assert_array_equal(read, written)


def test_words_of_several_parts_are_concatenated(part, tmp_path):
    other = str(tmp_path / "other")
    one = np.array([3], np.int32)
    write_part(other, pa.array(["z"], pa.large_string()), one, one.astype(np.int64), one.astype(np.int64), [])
    assert read_words([part, other])["word"].to_pylist() == ["b", "é", "😀", "z"]
    assert read_words([other])["rows"].to_pylist() == [0]


def test_an_empty_part_reads_back(tmp_path):
    uri = str(tmp_path / "empty")
    none = np.empty(0, np.int64)
    assert write_part(uri, WORDS[:0], none.astype(np.int32), none, none, []).entries == 0
    assert len(read_words([uri])) == 0
    assert list(iter_pairs(uri, MAX_WORDS)) == []


def test_failed_write_leaves_no_files(tmp_path):
    def failing():
        yield BLOCKS[0]
        raise RuntimeError("the worker was stopped")

    with pytest.raises(RuntimeError, match="was stopped"):
        write_part(str(tmp_path / "part"), WORDS, NUMBERS, COUNTS, PASSAGES, failing())
    assert list(tmp_path.iterdir()) == []


def test_equal_counts_give_equal_bytes(part, tmp_path):
    again = str(tmp_path / "again" / Path(part).name)
    write_part(again, WORDS, NUMBERS, COUNTS, PASSAGES, BLOCKS)
    for one, other in zip(part_files(part), part_files(again), strict=True):
        assert Path(one).read_bytes() == Path(other).read_bytes()


def test_remove_part_removes_only_its_own_files(part, tmp_path):
    write_part(str(tmp_path / "part2"), WORDS, NUMBERS, COUNTS, PASSAGES, BLOCKS)
    remove_part(part)
    assert {path.name for path in tmp_path.iterdir()} == {
        Path(file).name for file in part_files(str(tmp_path / "part2"))
    }
    remove_part(part)  # removing again is not an error
    with pytest.raises(BitcipherError, match="no file"):
        read_words([part])


def test_damaged_files_raise(part):
    words, _, entries = map(Path, part_files(part))
    words.write_bytes(words.read_bytes()[:-9])
    with pytest.raises(BitcipherError, match=f"{words.name} is not a Parquet file"):
        read_words([part])
    entries.write_bytes(b"")
    with pytest.raises(BitcipherError, match="is damaged"):
        list(iter_pairs(part, MAX_WORDS))


def test_flipped_bits_raise_or_change_nothing(part):
    def read():
        return read_words([part]).to_pydict(), [column.tolist() for column in concatenate(iter_pairs(part, len(WORDS)))]

    expected = read()
    random = np.random.default_rng(0)
    noticed = 0
    for file in map(Path, part_files(part)):
        content = file.read_bytes()
        for position, bit in zip(random.integers(len(content), size=300), random.integers(8, size=300), strict=True):
            damaged = bytearray(content)
            damaged[position] ^= 1 << bit
            file.write_bytes(damaged)
            try:
                found = read()
            except BitcipherError:
                noticed += 1
            else:
                assert found == expected
        file.write_bytes(content)
    assert noticed > 300
