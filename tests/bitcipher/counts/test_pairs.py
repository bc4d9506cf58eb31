from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher import BitcipherError
from bitcipher.counts import PairBlock, concatenate, iter_pairs, read_run, split, write_pairs
from bitcipher.counts.pairs import pair_files

DTYPES = (np.int32, np.int16, np.int64, np.int32, np.int64)


def block_of(rows):
    """A block from (left, offset, [(right, n), …])."""
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
pairs = st.lists(st.tuples(numbers, st.integers(1, 2**62)), min_size=1, max_size=6)
rows = st.lists(st.tuples(numbers, st.integers(0, 128), pairs), max_size=12)
blocks = st.lists(rows.map(block_of), max_size=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pairs")


@given(blocks, st.data())
@settings(max_examples=60, deadline=None)
def test_any_run_of_rows_reads_back_as_written(folder, blocks, data):
    uri = f"{folder}/pairs"
    passed_by = list(write_pairs(uri, iter(blocks)))
    assert len(passed_by) == len(blocks)
    whole = concatenate(blocks)
    assert_same(concatenate(passed_by), whole)

    for walked, block in zip(iter_pairs(uri), blocks, strict=True):
        assert_same(walked, block)
    starts = np.concatenate([[0], np.cumsum(whole.length)])
    first = data.draw(st.integers(0, len(whole.left)))
    behind = data.draw(st.integers(first, len(whole.left)))
    run = slice(int(starts[first]), int(starts[behind]))
    expected = PairBlock(*(c[first:behind] for c in whole[:3]), *(c[run] for c in whole[3:]))
    assert_same(read_run(uri, (first, behind), (run.start, run.stop)), expected)


@given(rows.map(block_of), st.integers(1, 20))
@settings(max_examples=100, deadline=None)
def test_split_rows_put_together_are_the_same(block, entries):
    parts = list(split(block, entries))
    assert_same(concatenate(parts), block)
    for part in parts:
        assert len(part.right) == part.length.sum()
        assert len(part.right) <= entries or len(part.left) == 1
    # No block could have taken the first row of the next.
    assert all(len(a.right) + b.length[0] > entries for a, b in pairwise(parts))


def test_no_blocks_are_an_empty_block():
    empty = concatenate([])
    assert [column.dtype for column in empty] == list(DTYPES)
    assert [len(column) for column in empty] == [0] * 5


def test_the_same_pairs_are_the_same_bytes(tmp_path):
    block = block_of([(3, 1, [(1, 5), (2, 2**40)]), (4, 2, [(0, 1)])])
    for name in ("one", "other"):
        list(write_pairs(str(tmp_path / name), [block]))
    for one, other in zip(*(pair_files(str(tmp_path / name)) for name in ("one", "other")), strict=True):
        with open(one, "rb") as a, open(other, "rb") as b:
            assert a.read() == b.read()


def test_pairs_that_are_not_written_to_the_end_do_not_appear(tmp_path):
    def failing():
        yield block_of([(0, 1, [(0, 1)])])
        raise RuntimeError("the tokens ran out")

    with pytest.raises(RuntimeError, match="ran out"):
        list(write_pairs(str(tmp_path / "pairs"), failing()))
    left_behind = write_pairs(str(tmp_path / "pairs"), [block_of([(0, 1, [(0, 1)])])] * 2)
    next(left_behind)
    left_behind.close()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def written(tmp_path):
    """A name under which pairs were written, three rows of two pairs each."""
    uri = str(tmp_path / "pairs")
    block = block_of([(left, 1, [(0, 5), (1, 6)]) for left in range(3)])
    list(write_pairs(uri, split(block, 2)))
    return uri


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    "damage", [lambda content: b"", lambda content: content[:-20], lambda content: b"no Parquet" * 9]
)
def test_a_damaged_file_is_an_error_that_names_it(written, place, damage):
    file = Path(pair_files(written)[place])
    file.write_bytes(damage(file.read_bytes()))
    for read in (lambda: list(iter_pairs(written)), lambda: read_run(written, (0, 3), (0, 6))):
        with pytest.raises(BitcipherError, match=rf"{file.name} is damaged .*: build again"):
            read()


@pytest.mark.parametrize("place", [0, 1])
def test_a_missing_file_is_an_error(written, place):
    Path(pair_files(written)[place]).unlink()
    with pytest.raises(BitcipherError, match="There is no file"):
        list(iter_pairs(written))


def test_pairs_that_are_fewer_than_the_rows_say_are_an_error(written, tmp_path):
    list(write_pairs(str(tmp_path / "fewer"), [block_of([(0, 1, [(0, 5)] * 5)])]))
    Path(pair_files(str(tmp_path / "fewer"))[1]).replace(pair_files(written)[1])
    with pytest.raises(BitcipherError, match="has fewer than 6 rows, so it is damaged: build again"):
        read_run(written, (0, 3), (0, 6))
    with pytest.raises(BitcipherError, match="do not belong together: build again"):
        list(iter_pairs(written))
