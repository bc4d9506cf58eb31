import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.plan import TEXT_PER_COMPRESSED_BYTE, ReadTask, estimated_text_bytes, plan_reading
from pipelines.sources import Source, format_of

endings = st.sampled_from([".txt", ".txt.gz", ".jsonl.zst", ".parquet", ".warc.wet.gz"])
sources = st.lists(
    st.builds(
        lambda name, size: Source(name, size, format_of(name)),
        endings.map("a/b{}".format),
        st.integers(0, 500),
    )
)


def text(size):
    return Source(f"/corpus/{size}.txt", size, "text")


@given(sources, st.integers(1, 1000))
def test_every_source_is_in_one_task_and_in_order(sources, shard_bytes):
    tasks = plan_reading(sources, shard_bytes)
    assert [source for task in tasks for source in task.sources] == sources
    assert all(task.sources for task in tasks)
    assert [task.name for task in tasks] == [f"{index:05d}" for index in range(len(tasks))]


@given(sources, st.integers(1, 1000))
def test_tasks_hold_about_a_shard_of_text(sources, shard_bytes):
    tasks = plan_reading(sources, shard_bytes)
    sizes = [[estimated_text_bytes(source) for source in task.sources] for task in tasks]
    for task in sizes:
        assert len(task) == 1 or max(task) < shard_bytes
        assert sum(task[:-1]) < shard_bytes
    for task, following in pairwise(sizes):
        assert sum(task) >= shard_bytes or following[0] >= shard_bytes


def test_small_files_share_a_task_and_large_ones_stand_alone():
    plan = plan_reading([text(size) for size in (40, 60, 1, 100, 5, 5)], 100)
    assert [[source.size for source in task.sources] for task in plan] == [[40, 60], [1], [100], [5, 5]]


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.zst", "a.parquet", "a.wet.bz2"])
def test_compressed_files_count_for_the_text_that_is_in_them(name):
    assert estimated_text_bytes(Source(name, 10, format_of(name))) == 10 * TEXT_PER_COMPRESSED_BYTE
    assert estimated_text_bytes(Source("a.txt", 10, "text")) == 10


@given(sources, st.integers(1, 1000))
def test_rows_are_plain_values_that_give_the_task_back(sources, shard_bytes):
    for task in plan_reading(sources, shard_bytes):
        assert ReadTask.from_row(json.loads(json.dumps(task.to_row()))) == task


def test_no_sources_make_no_tasks():
    assert plan_reading([], 100) == []


def test_a_shard_has_at_least_a_byte():
    with pytest.raises(BitcipherError, match="A shard of 0 bytes is not possible"):
        plan_reading([text(1)], 0)
