"""Stages in processes that are forked from this one."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest
from builds import digests, run_build

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.runtime import StageSpec
from pipelines.runtime.stage_processes import CAN_FORK
from pipelines.runtime.stopping import end_if_stopped

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="processes are not forked on this system")


def stream(make, inputs, processes=2, **arguments):
    spec = StageSpec(make.__name__, make, arguments, in_parallel=True)
    return InProcessRuntime(threads=processes).stream(spec, inputs)


def wait_for(path):
    while not path.exists():
        time.sleep(0.01)


class Together:
    """Stage whose instances wait for each other, so it ends only if they run at the same time."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, item):
        (self.folder / item).touch()
        for other in "ab":
            wait_for(self.folder / other)
        yield item, os.getpid()
        yield item, os.getpid()


def test_inputs_are_processed_at_the_same_time_and_all_results_are_returned(tmp_path):
    results = [result.value for result in stream(Together, ["a", "b", "c"], folder=tmp_path)]
    assert sorted(item for item, _ in results) == ["a", "a", "b", "b", "c", "c"]
    assert len({pid for _, pid in results}) == 2
    assert os.getpid() not in {pid for _, pid in results}
    assert not multiprocessing.active_children()


class Sleeping:
    """Stage that sleeps at 0 until it is stopped. Meanwhile it raises inputs that are exceptions, and yields others."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, item):
        try:
            while item == 0:
                (self.folder / "asleep").touch()
                end_if_stopped()
                time.sleep(0.01)
            wait_for(self.folder / "asleep")
            if isinstance(item, BaseException):
                raise item
            yield item
        finally:
            (self.folder / f"ended {item!r}").touch()


class Odd(Exception):
    """Error that cannot be sent to another process."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (BitcipherError("The input is damaged."), BitcipherError),
        (ZeroDivisionError("division"), ZeroDivisionError),
        (SystemExit("ended"), SystemExit),
        (Odd("of", "two"), RuntimeError),
    ],
)
def test_error_of_a_process_is_raised_after_the_others_ended(tmp_path, error, raised):
    with pytest.raises(raised, match=str(error)) as found:
        list(stream(Sleeping, [0, error, 0], folder=tmp_path))
    assert (tmp_path / "ended 0").exists()
    assert not multiprocessing.active_children()
    if raised is ZeroDivisionError:
        assert "In another process" in found.value.__notes__[0]
        assert "raise item" in found.value.__notes__[0]


@pytest.mark.parametrize("reason", [GeneratorExit, KeyboardInterrupt])
def test_processes_end_when_the_caller_stops(tmp_path, reason):
    results = stream(Sleeping, [1, 0, 0], folder=tmp_path)
    assert next(results).value == 1
    with pytest.raises(reason):
        results.throw(reason)
    assert (tmp_path / "ended 0").exists()
    assert not multiprocessing.active_children()


class Killed:
    """Stage whose process is killed."""

    def __call__(self, item):
        os.kill(os.getpid(), signal.SIGKILL)
        yield item


def test_killed_process_gives_one_sentence():
    with pytest.raises(BitcipherError, match="stage 'Killed' was ended by signal 9, by which the system frees memory"):
        list(stream(Killed, [1, 2]))


class Working:
    """Stage that uses as many seconds of CPU time as an input says."""

    def __call__(self, item):
        start = time.process_time()
        while time.process_time() - start < item:
            pass
        yield item


def test_cpu_time_is_that_of_the_process():
    costs = {result.value: result.cost for result in stream(Working, [0.1, 0.6])}
    assert 0.1 <= costs[0.1].cpu_seconds < 0.4
    assert 0.6 <= costs[0.6].cpu_seconds < 0.9


SCRIPT = """
import os, sys, time
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.runtime import StageSpec
from pipelines.runtime.stopping import end_if_stopped

class Endless:
    def __call__(self, item):
        os.write(1, b"started %d\\n" % os.getpid())  # print writes in pieces if Ray has set PYTHONUNBUFFERED
        while True:
            end_if_stopped()
            time.sleep(0.01)
        yield item

print("script", flush=True)
list(InProcessRuntime(threads=2).stream(StageSpec("endless", Endless, {}, in_parallel=True), [1, 2]))
"""


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split()[2] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_a_script_that_has_no_guard_and_runs_once(tmp_path, number):
    (tmp_path / "script.py").write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as script:
        lines = [script.stdout.readline().split() for _ in range(3)]
        script.send_signal(number)
        assert [line[0] for line in lines] == ["script", "started", "started"]
        assert script.stdout.read() == ""  # at the end of the last process
    deadline = time.monotonic() + 30
    while any(is_running(line[1]) for line in lines[1:]):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("place", ["disk", "s3"])
def test_build_on_two_cores_has_the_bytes_of_one(place, corpus, tmp_path, request):
    base = str(tmp_path) if place == "disk" else request.getfixturevalue("s3")
    for path in corpus.iterdir():
        storage.write_bytes(storage.join(base, "corpus", path.name), path.read_bytes())
    found = []
    for threads in (1, 2):
        target = storage.join(base, f"build-{threads}")
        made = run_build([storage.join(base, "corpus")], target, threads=threads)
        assert len(made["tasks"]) > 1
        found.append(digests(target))
    assert found[0] == found[1]
