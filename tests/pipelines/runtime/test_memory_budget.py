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
def test_sizes_of_work_use_at_most_the_budget(megabytes):
    budget = MemoryBudget(megabytes)
    assert budget.bytes == megabytes << 20
    counting = budget.chunks * CHUNK_BYTES + budget.batch_bytes * BYTES_PER_TEXT_BYTE
    merging = budget.range_entries * BYTES_PER_ENTRY
    for used in (counting, merging):
        # Less than 5% of the budget remains unused.
        assert 0.95 * budget.bytes - LIBRARY_BYTES < used <= budget.bytes - LIBRARY_BYTES


def test_default_shard_fits_in_one_batch():
    options = BuildOptions()
    assert MemoryBudget(options.memory_mib).batch_bytes >= options.shard_mib << 20


def test_budget_below_the_minimum_raises():
    with pytest.raises(BitcipherError, match="memory_mib"):
        MemoryBudget(599)
    with pytest.raises(BitcipherError, match="memory_mib"):
        BuildOptions(memory_mib=100)
