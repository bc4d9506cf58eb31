"""Workers that finish after other workers have done the same task, or after their job has ended."""

import threading

import pytest
from builds import digests, run_build, run_update, write_lines
from commands import unreferenced_files

from bitcipher.errors import BitcipherError
from pipelines.builds import build as build_module
from pipelines.builds import make_version
from pipelines.builds.prune import drop_unfinished
from pipelines.count import count_stage
from pipelines.count.count_stage import CountStage
from pipelines.store.ledger import Ledger


@pytest.fixture
def files(tmp_path, documents):
    return [write_lines(tmp_path / f"{i}.jsonl", documents[i::4]) for i in range(4)]


@pytest.fixture
def interrupted(tmp_path, files, monkeypatch):
    """Build whose update was interrupted before it counted, with the stage and the task of a worker."""
    run_build(files[:2], tmp_path / "build")
    started = []

    def fail(stage, task):
        started.append((stage, task))
        raise BitcipherError("The worker is gone.")

    with monkeypatch.context() as patch:
        patch.setattr(CountStage, "__call__", fail)
        with pytest.raises(BitcipherError, match="gone"):
            run_update(tmp_path / "build", files)
    return tmp_path / "build", *started[0]


def check_build(build, files, tmp_path):
    run_build(files, tmp_path / "whole")
    assert digests(build) == digests(tmp_path / "whole")
    assert unreferenced_files(build) == set()


def test_result_of_a_late_worker_is_dropped(interrupted, files, tmp_path, monkeypatch):
    build, stage, task = interrupted
    first = list(stage(task))
    with monkeypatch.context() as patch:
        # As if this call had begun before the first one ended.
        patch.setattr(Ledger, "find", lambda ledger, kind, key: None)
        second = list(stage(task))
    assert second == first
    assert len(unreferenced_files(build)) > 3  # the files of the second result
    run_update(build, files)
    check_build(build, files, tmp_path)


class LateWorker(threading.Thread):
    """Worker that has written the files of a shard and is suspended before it records them in the ledger."""

    def __init__(self, stage, task, monkeypatch):
        super().__init__()
        self._stage, self._task = stage, task
        self._wrote, self._resumes = threading.Event(), threading.Event()
        check = count_stage.check_unchanged

        def wait_and_check(sources):
            if threading.current_thread() is self:
                self._wrote.set()
                self._resumes.wait(60)
            check(sources)

        monkeypatch.setattr(count_stage, "check_unchanged", wait_and_check)
        self.start()
        assert self._wrote.wait(60)

    def run(self):
        self.results = list(self._stage(self._task))

    def resume(self):
        self._resumes.set()
        self.join(60)
        assert self.results


STEPS = {
    "start": (build_module, "start_job"),
    "count": (make_version, "run_count_tasks"),
    "publish": (make_version, "_publish"),
}


def run_after(step, action, monkeypatch):
    """Run `action` after each call of a function of the job."""
    module, name = STEPS[step]
    function = getattr(module, name)

    def run_both(*arguments):
        result = function(*arguments)
        action()
        return result

    monkeypatch.setattr(module, name, run_both)


@pytest.mark.parametrize("step", STEPS)
def test_worker_that_outlives_its_driver_changes_nothing(interrupted, files, tmp_path, monkeypatch, step):
    build, stage, task = interrupted
    worker = LateWorker(stage, task, monkeypatch)
    run_after(step, worker.resume, monkeypatch)
    run_update(build, files)
    monkeypatch.undo()
    more = write_lines(tmp_path / "more.jsonl", ["a few more words"])
    run_update(build, [*files, more])
    check_build(build, [*files, more], tmp_path)


def test_worker_of_a_dropped_job_adds_nothing_to_the_next(interrupted, files, tmp_path, monkeypatch):
    build, stage, task = interrupted
    worker = LateWorker(stage, task, monkeypatch)
    drop_unfinished(str(build))
    run_after("start", worker.resume, monkeypatch)
    run_update(build, files)
    check_build(build, files, tmp_path)
