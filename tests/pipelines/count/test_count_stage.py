import json
import os
from dataclasses import replace

import pytest
from written_segments import digest_of, read_counts, reference

from bitcipher.counts.context_window import ContextWindow
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.count import count_stage
from pipelines.count.count_stage import SHARDS_PER_TASK, CountStage, plan_tasks
from pipelines.ingest.chunk_batches import batch_chunks
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.document_chunks import DocumentChunk
from pipelines.ingest.sources import list_sources
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.store.build_folder import COUNTED_TASKS
from pipelines.store.layout import LEDGER
from pipelines.store.ledger import Ledger
from pipelines.store.segments import total_digest

WINDOW = ContextWindow(2)


def stage_of(build, **other):
    options = BuildOptions(**{"tokenizer": "whitespace", "window": WINDOW.size, "memory_mib": 600, **other})
    return CountStage(str(build), f"{build}/{LEDGER}", options)


def tasks_of(paths, shard_bytes):
    return plan_tasks(hash_sources(list_sources(list(map(str, paths))), [], InProcessRuntime()), shard_bytes)


def whole_task(path, shard_bytes):
    """Return one task for all shards of a file."""
    return replace(tasks_of([path], 1 << 30)[0], shard_bytes=shard_bytes)


def run(stage, tasks):
    return [counted.shard for task in tasks for counted in stage(task)]


def finished_tasks(build):
    return Ledger(f"{build}/{LEDGER}").keys(COUNTED_TASKS)


@pytest.fixture
def texts():
    """Two hundred documents of at most 40 words."""
    return [" ".join(f"w{(i * j) % 83}" for j in range(1, 2 + i % 40)) for i in range(200)]


@pytest.fixture
def file(texts, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(texts))
    return path


def words_of(texts):
    return [text.split() for text in texts]


def test_shards_have_whole_documents_and_add_up(file, texts, tmp_path):
    shards = run(stage_of(tmp_path / "build"), [whole_task(file, 3000)])
    assert len(shards) > 4
    assert sum(shard.documents for shard in shards) == len(texts)
    assert sum(shard.text_bytes for shard in shards) == sum(map(len, texts))
    assert all(3000 <= shard.text_bytes < 3000 + max(map(len, texts)) for shard in shards[:-1])
    start = 0
    for shard in shards:
        documents = words_of(texts[start : start + shard.documents])
        assert read_counts(str(tmp_path / "build"), shard) == reference(documents, WINDOW)
        assert shard.tokens == sum(map(len, documents))
        assert shard.total_passages == len(documents)
        assert shard.digest == digest_of(str(tmp_path / "build"), shard.parts, shard.total_passages)
        start += shard.documents


def test_large_shards_are_counted_in_batches(file, texts, tmp_path, monkeypatch):
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.batch_bytes", 1500)
    monkeypatch.setattr("pipelines.runtime.memory_budget.BYTES_PER_MERGED", 1 << 19)  # 2,000 rows and entries
    monkeypatch.setattr(count_stage, "FAN_IN", 4)  # so that sums of batches are summed again
    build = str(tmp_path / "build")
    (shard,) = run(stage_of(build), tasks_of([file], 1 << 20))
    assert len(shard.parts) > 1
    assert read_counts(build, shard) == reference(words_of(texts), WINDOW)
    assert shard.digest == digest_of(build, shard.parts, shard.total_passages)
    assert shard.shards == (shard.name,)
    assert (shard.documents, shard.tokens) == (len(texts), len(" ".join(texts).split()))
    # The segments of batches and their intermediate sums are removed.
    files = storage.list_files(f"{build}/shards", unfinished=True)
    assert {name.split(".")[0] for name in files} == {part.removeprefix("shards/") for part in shard.parts}
    assert storage.list_files(f"{build}/work") == {}


def test_document_of_many_batches(tmp_path, monkeypatch):
    """The left context of a batch can be words that no batch of the same merge counts."""
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.batch_bytes", 20_000)
    monkeypatch.setattr("pipelines.runtime.memory_budget.BYTES_PER_MERGED", 1 << 13)  # 140,000 rows and entries
    monkeypatch.setattr(count_stage, "FAN_IN", 2)
    words = [f"{i:0127}" for i in range(50_000)]  # six batches, because each chunk of 1 MiB is one
    (tmp_path / "corpus.txt").write_text(" ".join(words))
    build = str(tmp_path / "build")
    (shard,) = run(stage_of(build), tasks_of([tmp_path / "corpus.txt"], 1 << 20))
    counts, expected = read_counts(build, shard), reference([words], WINDOW)
    assert (counts.words, counts.pairs) == (expected.words, expected.pairs)
    assert counts.passages == expected.words


def test_repeated_task_yields_the_recorded_shards(file, tmp_path, monkeypatch):
    build = tmp_path / "build"
    task = whole_task(file, 3000)
    first = run(stage_of(build), [task])
    assert finished_tasks(build) == [task.id]
    files = storage.list_files(f"{build}/shards")
    monkeypatch.setattr(count_stage, "count_shard", None)  # counting again would fail
    assert run(stage_of(build), [task]) == first
    assert storage.list_files(f"{build}/shards") == files


def test_resumed_task_counts_only_the_remaining_shards(file, tmp_path):
    build = tmp_path / "build"
    task = whole_task(file, 3000)
    begun = stage_of(build)(task)
    first = [next(begun), next(begun)]  # then the worker dies
    begun.close()
    assert finished_tasks(build) == []
    shards = run(stage_of(build), [task])
    assert shards[:2] == [counted.shard for counted in first]
    uninterrupted = run(stage_of(tmp_path / "uninterrupted"), [task])
    assert [shard.digest for shard in shards] == [shard.digest for shard in uninterrupted]


def test_late_worker_yields_the_recorded_shard(file, tmp_path):
    build = tmp_path / "build"
    (task,) = tasks_of([file], 1 << 20)
    recorded = []
    stage = stage_of(build)
    write = stage._write_batch

    def slow(name, batch):
        segment = write(name, batch)
        recorded.append(next(iter(stage_of(build)(task))))  # another worker finishes in the meantime
        return segment

    stage._write_batch = slow
    assert list(stage(task)) == recorded


@pytest.mark.parametrize("new_content", ["longer\n", "same size but newer\n"])
def test_source_that_changes_during_counting_raises_without_an_entry(tmp_path, new_content):
    file = tmp_path / "a.txt"
    file.write_text("same size but older\n")
    os.utime(file, (1, 1))
    (task,) = tasks_of([file], 1000)
    file.write_text(new_content)
    with pytest.raises(BitcipherError, match=r"a\.txt changed while it was read"):
        run(stage_of(tmp_path / "build"), [task])
    assert storage.list_files(f"{tmp_path}/build/{LEDGER}") == {}


def test_several_tasks_of_a_file_count_the_same_as_one(file, texts, tmp_path):
    # One large shard size gives a single task; a small one gives several tasks of several shards.
    (whole,) = tasks_of([file], 1 << 20)
    shard_bytes = file.stat().st_size // (3 * SHARDS_PER_TASK)
    tasks = tasks_of([file], shard_bytes)
    assert len(tasks) == 4
    build = str(tmp_path / "build")
    shards = run(stage_of(build), reversed(tasks))
    one_task = run(stage_of(tmp_path / "one"), [replace(tasks[0], stop=None)])
    assert sorted(shard.digest for shard in shards) == sorted(shard.digest for shard in one_task)
    (single,) = run(stage_of(tmp_path / "single"), [whole])
    assert total_digest(shards) == total_digest(one_task) == single.digest
    assert len({shard.name for shard in shards}) == len(shards)
    assert sum(shard.documents for shard in shards) == len(texts)


def test_task_beyond_the_end_of_a_file_counts_nothing(file, tmp_path):
    (task,) = tasks_of([file], 1 << 20)
    beyond = replace(task, start=5, stop=9)
    assert run(stage_of(tmp_path / "build"), [beyond]) == []
    assert finished_tasks(tmp_path / "build") == [beyond.id]


def test_shard_contains_documents_of_several_files(tmp_path):
    contents = {"a.txt": "one two\nthree", "b.jsonl": json.dumps({"text": "four five six"}), "c.txt": "seven"}
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    (shard,) = run(stage_of(tmp_path / "build"), tasks_of([tmp_path / name for name in contents], 1000))
    documents = [["one", "two"], ["three"], ["four", "five", "six"], ["seven"]]
    assert read_counts(str(tmp_path / "build"), shard) == reference(documents, WINDOW)


def test_files_without_documents_have_no_shards(tmp_path):
    (tmp_path / "a.txt").write_text("\n  \n\n")
    tasks = tasks_of([tmp_path / "a.txt"], 1000)
    assert run(stage_of(tmp_path / "build"), tasks) == []
    assert finished_tasks(tmp_path / "build") == [task.id for task in tasks]


def test_shard_ends_after_the_document_that_fills_it():
    chunks = [
        DocumentChunk("é" * 3, False),
        DocumentChunk("abcd", True),
        DocumentChunk("efgh", True),
        DocumentChunk("i", False),
        DocumentChunk("j", False),
    ]
    for size in range(1, 6):
        batches = (batch for at in range(0, 5, size) for batch in batch_chunks(chunks[at : at + size]))
        shards = [
            [text for batch in shard for text in batch.texts.to_pylist()]
            for shard in count_stage.split_shards(batches, 6)
        ]
        assert shards == [["ééé"], ["abcd", "efgh", "i"], ["j"]]


def test_sources_and_counts_on_a_disk_and_in_an_object_store(texts, base_uri):
    with storage.writing(storage.join(base_uri, "corpus", "deep", "a.txt")) as stream:
        stream.write("\n".join(texts).encode())
    build = storage.join(base_uri, "build")
    # Sources are listed by directory and opened by name.
    shards = run(stage_of(build), tasks_of([storage.join(base_uri, "corpus")], 5000))
    assert len(shards) > 1
    assert sum(shard.documents for shard in shards) == len(texts)
    assert all(shard.digest == digest_of(build, shard.parts, shard.total_passages) for shard in shards)


def write_with_bad_lines(path, texts, bad):
    """Write JSON lines, of which the last ones are bad, and the first document has a character that was replaced."""
    lines = [json.dumps({"text": f"{text}\ufffd" if i == 0 else text}) for i, text in enumerate(texts)]
    path.write_text("\n".join([*lines, *["{"] * bad]))
    return path


def recorded_counts(build):
    """Return the record counts that the finished tasks recorded, by source."""
    tasks = Ledger(f"{build}/{LEDGER}").entries(COUNTED_TASKS).values()
    return [item for task in tasks for item in task.records.items()]


def test_bad_records_are_counted_by_source(texts, tmp_path):
    write_with_bad_lines(tmp_path / "a.jsonl", texts, 2)
    (tmp_path / "b.txt").write_text("one two")
    tasks = tasks_of([tmp_path / "a.jsonl", tmp_path / "b.txt"], 1 << 20)
    (task,) = tasks
    shards = run(stage_of(tmp_path / "build"), tasks)
    assert sum(shard.documents for shard in shards) == len(texts) + 1
    ((sha256, counts),) = recorded_counts(tmp_path / "build")
    assert sha256 == task.sources[0].sha256
    assert (counts.bad, counts.skipped, counts.replacements) == ({"not JSON": 2}, {}, 1)
    assert counts.example.startswith(f"Line 201 of {tmp_path}/a.jsonl is not JSON")


def test_bad_records_of_a_file_with_several_tasks_are_counted_once(texts, tmp_path):
    file = write_with_bad_lines(tmp_path / "a.jsonl", texts, 2)
    shard_bytes = file.stat().st_size // (3 * SHARDS_PER_TASK)
    tasks = tasks_of([file], shard_bytes)
    beyond = replace(tasks[0], id="beyond", start=90, stop=99)  # reads to the end, but is not the last task
    assert len(tasks) == 4
    run(stage_of(tmp_path / "build"), [*tasks, beyond])
    ((_, counts),) = recorded_counts(tmp_path / "build")
    assert (counts.bad, counts.replacements) == ({"not JSON": 2}, 1)


def test_source_with_too_many_bad_records_raises_without_an_entry(texts, tmp_path):
    tasks = tasks_of([write_with_bad_lines(tmp_path / "a.jsonl", texts, 3)], 1 << 20)
    with pytest.raises(BitcipherError, match=r"3 of 203 records of .* are bad"):
        run(stage_of(tmp_path / "build"), tasks)
    assert finished_tasks(tmp_path / "build") == []
    (shard,) = run(stage_of(tmp_path / "build", max_bad_share=0.02), tasks)
    assert shard.documents == len(texts)
