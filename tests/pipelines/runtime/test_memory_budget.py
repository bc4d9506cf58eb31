import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.options import BuildOptions
from pipelines.runtime.memory_budget import (
    BYTES_PER_ENTRY,
    BYTES_PER_TEXT_BYTE,
    CHUNK_BYTES,
    LIBRARY_BYTES,
    MIN_MIB,
    MemoryBudget,
)


@given(st.integers(MIN_MIB, 10**6))
def test_shares_do_not_add_up_to_more_than_there_is(megabytes):
    budget = MemoryBudget(megabytes)
    assert budget.bytes == megabytes << 20
    counting = budget.chunks * CHUNK_BYTES + budget.batch_bytes * BYTES_PER_TEXT_BYTE
    merging = budget.range_entries * BYTES_PER_ENTRY
    for used in (counting, merging):
        # Less than 5% of the budget remains unused.
        assert 0.95 * budget.bytes - LIBRARY_BYTES < used <= budget.bytes - LIBRARY_BYTES


def test_a_default_shard_is_counted_at_once():
    options = BuildOptions()
    assert MemoryBudget(options.memory_mib).batch_bytes >= options.shard_mib << 20


def test_less_than_the_libraries_need_is_refused_before_anything_is_read():
    with pytest.raises(BitcipherError, match="memory_mib"):
        MemoryBudget(599)
    with pytest.raises(BitcipherError, match="memory_mib"):
        BuildOptions(memory_mib=100)
