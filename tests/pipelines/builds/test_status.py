import os
from itertools import pairwise

import pytest
from builds import OPTIONS, run_update, write_lines

from bitcipher.errors import BitcipherError
from pipelines.builds.build import build
from pipelines.builds.prune import drop_unfinished
from pipelines.builds.status import read_status
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress

# In mode cat, a stage makes the vectors, so `StatusRecorder` records it.
CAT = OPTIONS.derive({"mode": "cat"})


class StatusRecorder(InProcessRuntime):
    """Runtime that records the status of a build after each result of a stage, and can interrupt a stage."""

    def __init__(self, target, stop_at=None):
        super().__init__()
        self._target = str(target)
        self._stop_at = stop_at
        self.seen = []

    def stream(self, spec, inputs):
        if spec.name == self._stop_at:
            raise BitcipherError("The stage was interrupted.")
        for result in super().stream(spec, inputs):
            yield result
            if spec.name != "identify":
                self.seen.append((spec.name, read_status(self._target)))


@pytest.fixture
def files(documents, tmp_path):
    """Paths of four files, each of them a count task with two shards."""
    return [str(write_lines(tmp_path / f"{i}.jsonl", documents[i::4] * 2)) for i in range(4)]


def run(files, target, runtime):
    with StageProgress() as progress:
        build(files, str(target), CAT, runtime, progress)


def test_status_without_a_build_raises(tmp_path):
    with pytest.raises(BitcipherError, match="is not a build"):
        read_status(str(tmp_path / "build"))


def test_status_of_a_running_job(files, tmp_path):
    target = tmp_path / "build"
    runtime = StatusRecorder(target)
    run(files, target, runtime)
    counting = [status for stage, status in runtime.seen if stage == "count"]
    # A task is done after its last shard.
    assert [(status.tasks, status.tasks_done) for status in counting] == [(4, i // 2) for i in range(8)]
    assert all(0 < one.tokens < other.tokens for one, other in pairwise(counting))
    for _, status in runtime.seen:
        assert status.versions == []
        assert status.holder.pid == os.getpid()
        assert status.job.version == 1
    stage, embedding = runtime.seen[-1]
    assert (stage, embedding.tasks_done, embedding.tokens) == ("embed", 4, counting[-1].tokens)
    assert embedding.ranges_merged > 0 == counting[-1].ranges_merged

    after = read_status(str(target))
    assert (after.versions, after.holder, after.job) == ([1], None, None)
    assert (after.tasks, after.tasks_done, after.tokens, after.ranges_merged) == (0, 0, 0, 0)


def test_status_of_an_interrupted_job(files, documents, tmp_path):
    target = tmp_path / "build"
    with pytest.raises(BitcipherError, match="interrupted"):
        run(files, target, StatusRecorder(target, stop_at="embed"))
    stopped = read_status(str(target))
    assert (stopped.versions, stopped.holder) == ([], None)
    assert stopped.job.version == 1
    assert (stopped.tasks, stopped.tasks_done) == (4, 4)
    assert stopped.tokens == 2 * sum(len(text.split()) for text in documents)

    run(files, target, InProcessRuntime())
    run_update(target, files)
    assert read_status(str(target)).job is None


def test_dropped_job_leaves_no_status(files, tmp_path):
    target = tmp_path / "build"
    with pytest.raises(BitcipherError, match="interrupted"):
        run(files, target, StatusRecorder(target, stop_at="embed"))
    assert drop_unfinished(str(target)) == 8
    with pytest.raises(BitcipherError, match="is not a build"):
        read_status(str(target))
