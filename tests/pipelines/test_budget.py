import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.budget import BYTES_OF_ENTRY, BYTES_OF_TEXT_BYTE, CHUNK_BYTES, LEAST_MEGABYTES, LIBRARY_BYTES, Budget
from pipelines.options import BuildOptions


@given(st.integers(LEAST_MEGABYTES, 10**6))
def test_shares_do_not_add_up_to_more_than_there_is(megabytes):
    budget = Budget(megabytes)
    assert budget.bytes == megabytes << 20
    counting = budget.chunks * CHUNK_BYTES + budget.slice_bytes * BYTES_OF_TEXT_BYTE
    merging = budget.range_entries * BYTES_OF_ENTRY
    for used in (counting, merging):
        # What is left over is less than the libraries: memory that is given is also used.
        assert 0.95 * budget.bytes - LIBRARY_BYTES < used <= budget.bytes - LIBRARY_BYTES


def test_a_default_shard_is_counted_at_once():
    options = BuildOptions()
    assert Budget(options.memory_megabytes).slice_bytes >= options.shard_megabytes << 20


def test_less_than_the_libraries_need_is_refused_before_anything_is_read():
    with pytest.raises(BitcipherError, match="needs 600 megabytes of memory at least, not 599"):
        Budget(599)
    with pytest.raises(BitcipherError, match="needs 600 megabytes"):
        BuildOptions(memory_megabytes=100)
