from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher import BitcipherError
from bitcipher.counts.pairs import (
    PairBlock,
    concatenate,
    cut_rows,
    iter_pairs,
    pair_files,
    read_row_range,
    split,
    write_pairs,
)
from pipelines.ingest.content_hash import sha256

MAX_WORDS = 1 << 31

DTYPES = (np.int32, np.int16, np.int64, np.int32, np.int64)


def block_of(rows):
    """Return a block of (left, offset, [(right, n), …])."""
    pairs = [pair for _, _, pairs in rows for pair in pairs]
    columns = (
        [left for left, _, _ in rows],
        [offset for _, offset, _ in rows],
        [len(pairs) for _, _, pairs in rows],
        [right for right, _ in pairs],
        [n for _, n in pairs],
    )
    return PairBlock(*(np.array(column, dtype) for column, dtype in zip(columns, DTYPES, strict=True)))


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


numbers = st.integers(0, 2**31 - 1)
pairs = st.lists(st.tuples(numbers, st.integers(1, 2**53)), min_size=1, max_size=6)
rows = st.lists(st.tuples(numbers, st.integers(0, 128), pairs), max_size=12)
blocks = st.lists(rows.map(block_of), max_size=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pairs")


@given(blocks, st.data())
@settings(max_examples=60, deadline=None)
def test_any_row_range_reads_back_as_written(folder, blocks, data):
    uri = f"{folder}/pairs"
    written = []
    write_pairs(uri, iter(blocks), written.append)
    assert len(written) == len(blocks)
    whole = concatenate(blocks)
    assert_same(concatenate(written), whole)

    for read, block in zip(iter_pairs(uri, MAX_WORDS), blocks, strict=True):
        assert_same(read, block)
    starts = np.concatenate([[0], np.cumsum(whole.length)])
    first = data.draw(st.integers(0, len(whole.left)))
    stop = data.draw(st.integers(first, len(whole.left)))
    entries = slice(int(starts[first]), int(starts[stop]))
    expected = PairBlock(*(c[first:stop] for c in whole[:3]), *(c[entries] for c in whole[3:]))
    assert_same(read_row_range(uri, (first, stop), (entries.start, entries.stop), MAX_WORDS), expected)


@given(rows.map(block_of), st.integers(1, 20))
@settings(max_examples=100, deadline=None)
def test_split_blocks_concatenate_to_the_original(block, entries):
    parts = list(split(block, entries))
    assert_same(concatenate(parts), block)
    for part in parts:
        assert len(part.right) == part.length.sum()
        assert len(part.right) <= entries or len(part.left) == 1
    # No block has room for the first row of the next one.
    assert all(len(a.right) + b.length[0] > entries for a, b in pairwise(parts))


@given(rows.map(block_of), st.integers(1, 20))
@settings(max_examples=100, deadline=None)
def test_cut_rows_have_the_same_pairs(block, entries):
    cut = cut_rows(block, entries)
    assert cut.length.max(initial=0) <= entries
    assert_same(cut[3:], block[3:])
    assert_same(*([np.repeat(column, each.length) for column in each[:2]] for each in (cut, block)))
    # Rows are cut only if they have to be.
    assert len(cut.length) == sum(max(1, -(-length // entries)) for length in block.length.tolist())


def test_concatenating_nothing_gives_an_empty_block():
    empty = concatenate([])
    assert [column.dtype for column in empty] == list(DTYPES)
    assert [len(column) for column in empty] == [0] * 5


def test_equal_pairs_give_equal_bytes(tmp_path):
    block = block_of([(3, 1, [(1, 5), (2, 2**40)]), (4, 2, [(0, 1)])])
    for name in ("one/pairs", "other/pairs"):
        hashes = write_pairs(str(tmp_path / name), [block])
        assert hashes == tuple(sha256(file) for file in pair_files(str(tmp_path / name)))
    for one, other in zip(*(pair_files(str(tmp_path / name)) for name in ("one/pairs", "other/pairs")), strict=True):
        with open(one, "rb") as a, open(other, "rb") as b:
            assert a.read() == b.read()


def test_incomplete_writes_leave_no_files(tmp_path):
    def failing():
        yield block_of([(0, 1, [(0, 1)])])
        raise RuntimeError("the tokens ran out")

    with pytest.raises(RuntimeError, match="ran out"):
        write_pairs(str(tmp_path / "pairs"), failing())
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def written(tmp_path):
    """URI of three written rows of two pairs each."""
    uri = str(tmp_path / "pairs")
    block = block_of([(left, 1, [(0, 5), (1, 6)]) for left in range(3)])
    write_pairs(uri, split(block, 2))
    return uri


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize(
    "damage", [lambda content: b"", lambda content: content[:-20], lambda content: b"no Parquet" * 9]
)
def test_damaged_file_raises_with_its_name(written, index, damage):
    file = Path(pair_files(written)[index])
    file.write_bytes(damage(file.read_bytes()))
    for read in (
        lambda: list(iter_pairs(written, MAX_WORDS)),
        lambda: read_row_range(written, (0, 3), (0, 6), MAX_WORDS),
    ):
        with pytest.raises(BitcipherError, match=f"{file.name} is damaged"):
            read()


@pytest.mark.parametrize("index", [0, 1])
def test_missing_file_raises(written, index):
    Path(pair_files(written)[index]).unlink()
    with pytest.raises(BitcipherError, match="no file"):
        list(iter_pairs(written, MAX_WORDS))


def test_too_few_pairs_raise(written, tmp_path):
    fewer = str(tmp_path / "fewer" / Path(written).name)
    write_pairs(fewer, [block_of([(0, 1, [(0, 5)] * 5)])])
    Path(pair_files(fewer)[1]).replace(pair_files(written)[1])
    with pytest.raises(BitcipherError, match="fewer than 6 rows"):
        read_row_range(written, (0, 3), (0, 6), MAX_WORDS)
    with pytest.raises(BitcipherError, match="do not match"):
        list(iter_pairs(written, MAX_WORDS))
