"""Temporary files of pairs."""

import uuid

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_blocks import block_of

from bitcipher.counts.row_ranges import RowRange
from pipelines.embed.spectral.pair_arrays import read_all, read_ranges, write_pairs

counts = st.one_of(st.integers(1, 9), st.integers(1, 2**62))
rows = st.lists(
    st.tuples(st.integers(0, 50), st.integers(-4, 4), st.dictionaries(st.integers(0, 50), counts, max_size=4)),
    max_size=8,
)


@given(content=rows, data=st.data())
@settings(max_examples=50, deadline=None)
def test_pairs_and_their_ranges_are_read_back(content, data):
    uri, block = f"memory://{uuid.uuid4().hex}", block_of(content)
    write_pairs(uri, block)
    assert_equal(read_all(uri), content)
    bounds = st.tuples(st.integers(0, len(content)), st.integers(0, len(content))).map(sorted)
    chosen = data.draw(st.lists(bounds, max_size=3))
    ends = np.concatenate([[0], np.cumsum(block.length)]).astype(int)
    ranges = [RowRange(uri, start, stop, int(ends[start]), int(ends[stop])) for start, stop in chosen]
    assert_equal(read_ranges(ranges), [row for start, stop in chosen for row in content[start:stop]])


def assert_equal(found, content):
    for column, expected in zip(found, block_of(content), strict=True):
        assert (column.dtype, column.tolist()) == (expected.dtype, expected.tolist())
