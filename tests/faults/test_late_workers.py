"""Workers that come back when others have done their work, or when their job is no more."""

import threading

import pytest
from builds import digests, run_build, run_update, write_lines
from commands import left_over

from bitcipher.errors import BitcipherError
from pipelines.build.job import BuildJob
from pipelines.build.publish import drop_unfinished
from pipelines.count import count_stage
from pipelines.count.count_stage import CountStage
from pipelines.store.ledger import Ledger


@pytest.fixture
def files(tmp_path, documents):
    return [write_lines(tmp_path / f"{i}.jsonl", documents[i::4]) for i in range(4)]


@pytest.fixture
def stopped(tmp_path, files, monkeypatch):
    """A build whose update was stopped before it counted; gives it with the stage and the row of a worker."""
    run_build(files[:2], tmp_path / "build")
    started = []

    def stop(stage, row):
        started.append((stage, row))
        raise BitcipherError("The worker is gone.")

    with monkeypatch.context() as patch:
        patch.setattr(CountStage, "__call__", stop)
        with pytest.raises(BitcipherError, match="gone"):
            run_update(tmp_path / "build", files)
    return tmp_path / "build", *started[0]


def check(build, files, tmp_path):
    run_build(files, tmp_path / "whole")
    assert digests(build) == digests(tmp_path / "whole")
    assert left_over(build) == set()


def test_what_a_late_worker_counted_again_is_dropped(stopped, files, tmp_path, monkeypatch):
    build, stage, row = stopped
    first = list(stage(row))
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "find", lambda ledger, key: None)  # it had begun before the other one was done
        second = list(stage(row))
    assert second == first
    assert len(left_over(build)) > 3  # its own files are there, and nothing names them
    run_update(build, files)
    check(build, files, tmp_path)


class LateWorker(threading.Thread):
    """A worker that has written the files of a row, and falls asleep before it tells the ledger."""

    def __init__(self, stage, row, monkeypatch):
        super().__init__()
        self._stage, self._row = stage, row
        self._wrote, self._wakes = threading.Event(), threading.Event()
        check = count_stage._check_unchanged

        def sleep(sources):
            if threading.current_thread() is self:
                self._wrote.set()
                self._wakes.wait(60)
            check(sources)

        monkeypatch.setattr(count_stage, "_check_unchanged", sleep)
        self.start()
        assert self._wrote.wait(60)

    def run(self):
        self.results = list(self._stage(self._row))

    def wake(self):
        self._wakes.set()
        self.join(60)
        assert self.results


def do_after(method, action, monkeypatch):
    """From now on the action is done when a job has done a step."""
    step = getattr(BuildJob, method)

    def step_and_action(job, *arguments):
        result = step(job, *arguments)
        action()
        return result

    monkeypatch.setattr(BuildJob, method, step_and_action)


@pytest.mark.parametrize("step", ["begin", "count", "publish"])
def test_a_worker_may_outlive_its_driver(stopped, files, tmp_path, monkeypatch, step):
    build, stage, row = stopped
    worker = LateWorker(stage, row, monkeypatch)
    do_after(step, worker.wake, monkeypatch)
    run_update(build, files)
    monkeypatch.undo()
    more = write_lines(tmp_path / "more.jsonl", ["a few more words"])
    run_update(build, [*files, more])
    check(build, [*files, more], tmp_path)


def test_a_worker_of_a_job_that_was_dropped_adds_nothing_to_the_next(stopped, files, tmp_path, monkeypatch):
    build, stage, row = stopped
    worker = LateWorker(stage, row, monkeypatch)
    drop_unfinished(str(build))
    do_after("begin", worker.wake, monkeypatch)
    run_update(build, files)
    check(build, files, tmp_path)
