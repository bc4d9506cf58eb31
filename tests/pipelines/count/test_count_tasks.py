from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.count.count_stage import SHARDS_PER_TASK, TASKS_PER_FILE, plan_tasks
from pipelines.ingest.source_groups import TEXT_PER_COMPRESSED_BYTE, estimate_text_bytes
from pipelines.ingest.sources import Source, format_of

endings = st.sampled_from([".txt", ".txt.gz", ".jsonl.zst", ".parquet", ".warc.wet.gz"])
sources = st.lists(
    st.builds(
        lambda name, size, digest: Source(uri=name, size=size, format=format_of(name), sha256=f"{digest:064x}"),
        endings.map("a/b{}".format),
        st.integers(0, 500),
        st.integers(0, 2**128),
    )
)


def text(size):
    return Source(uri=f"/corpus/{size}.txt", size=size, format="text", sha256=f"{size:064x}")


@given(sources, st.integers(100, 1000))
def test_tasks_contain_all_sources_in_order(sources, shard_bytes):
    tasks = plan_tasks(sources, shard_bytes)
    first_tasks = [task for task in tasks if task.start == 0]
    assert [source for task in first_tasks for source in task.sources] == sources
    assert all(task.sources for task in tasks)
    assert all(task.start == 0 for task in tasks if len(task.sources) > 1)  # its sources are in no other task


@given(sources, st.integers(100, 1000))
def test_tasks_contain_about_a_shard_of_text(sources, shard_bytes):
    tasks = [task for task in plan_tasks(sources, shard_bytes) if task.start == 0]
    sizes = [[estimate_text_bytes(source) for source in task.sources] for task in tasks]
    assert all(len(task) == 1 or sum(task) < 2 * shard_bytes for task in sizes)
    for task, following in pairwise(sizes):
        assert sum(task) + following[0] > shard_bytes


def test_small_files_share_a_task_and_large_files_do_not():
    plan = plan_tasks([text(size) for size in (40, 60, 1, 100, 5, 5)], 100)
    assert [[source.size for source in task.sources] for task in plan] == [[40, 60], [1, 100], [5, 5]]


MB = 1_000_000


@pytest.mark.parametrize(
    ("sizes", "tasks"),
    [
        ([25 * MB], [12, 12]),
        ([182 * MB], [45, 45, 45, 45]),
        ([28 * MB] * 5, [28, 28, 28, 14, 14, 14, 14]),
        ([3 * MB] * 10, [9, 9, 9, 3]),
        ([471 * MB], [117, 117, 117, 117]),
        ([67 * MB] * 8, [67] * 8),
        ([5 * MB], [5]),
    ],
)
def test_small_corpora_have_tasks_for_several_cores(sizes, tasks):
    sources = [text(size).model_copy(update={"uri": f"/{number}.txt"}) for number, size in enumerate(sizes)]
    planned = plan_tasks(sources, 64 << 20)
    parts = {source.uri: sum(source in task.sources for task in planned) for source in sources}
    text_bytes = [sum(source.size / parts[source.uri] for source in task.sources) for task in planned]
    assert [int(size) // MB for size in text_bytes] == tasks


@given(st.integers(1, 10**6), st.integers(1, 1000))
def test_tasks_of_a_file_partition_its_shards(size, shard_bytes):
    tasks = plan_tasks([text(size)], shard_bytes)
    assert tasks[0].start == 0
    assert tasks[-1].stop is None
    assert all(task.stop == following.start > task.start for task, following in pairwise(tasks))
    assert 1 <= len(tasks) <= TASKS_PER_FILE
    assert len(tasks) == TASKS_PER_FILE or size / shard_bytes <= SHARDS_PER_TASK * (len(tasks) + 1)
    assert all(task.shard_bytes <= shard_bytes for task in tasks)
    assert len({task.id for task in tasks}) == len(tasks)


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.zst", "a.parquet", "a.wet.bz2"])
def test_text_bytes_of_compressed_files_are_estimated(name):
    assert estimate_text_bytes(Source(uri=name, size=10, format=format_of(name))) == 10 * TEXT_PER_COMPRESSED_BYTE
    assert estimate_text_bytes(Source(uri="a.txt", size=10, format="text")) == 10


def test_task_id_depends_on_content_and_shard_size_only():
    sources = [text(40), text(60)]
    (task,) = plan_tasks(sources, 100)
    moved = [source.model_copy(update={"uri": f"/moved/{source.size}", "stamp": "x"}) for source in sources]
    (renamed,) = plan_tasks(moved, 100)
    (other,) = plan_tasks([sources[0], sources[1].model_copy(update={"sha256": "0" * 64})], 100)
    assert task.id == renamed.id != other.id
    (larger,) = plan_tasks(sources, 101)
    assert larger.id != task.id  # a job that resumes with larger shards must not reuse the smaller ones


def test_no_sources_give_no_tasks():
    assert plan_tasks([], 100) == []


def test_shard_bytes_below_one_raises():
    with pytest.raises(BitcipherError, match="`shard_bytes`"):
        plan_tasks([text(1)], 0)
