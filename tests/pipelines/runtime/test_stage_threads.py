"""Stages in threads of this process, on systems where processes are not forked."""

import threading
import time

import pytest

from bitcipher.errors import BitcipherError
from pipelines.runtime import in_process
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.runtime import StageSpec
from pipelines.runtime.stopping import end_if_stopped


@pytest.fixture(autouse=True)
def no_forks(monkeypatch):
    monkeypatch.setattr(in_process, "CAN_FORK", False)


class Together:
    """Stage whose instances wait for each other, so it ends only if they run at the same time."""

    def __init__(self, barrier):
        self.barrier = barrier

    def __call__(self, item):
        self.barrier.wait(timeout=60)
        yield item, threading.current_thread()
        yield item, threading.current_thread()


def test_inputs_are_processed_at_the_same_time_and_all_results_are_returned():
    spec = StageSpec("together", Together, {"barrier": threading.Barrier(3)}, in_parallel=True)
    results = list(InProcessRuntime(threads=3).stream(spec, [1, 2, 3]))
    assert sorted(result.value[0] for result in results) == [1, 1, 2, 2, 3, 3]
    assert len({result.value[1] for result in results}) == 3


def test_other_stages_run_in_the_main_thread():
    spec = StageSpec("together", Together, {"barrier": threading.Barrier(1)})
    results = InProcessRuntime(threads=3).stream(spec, [1, 2])
    assert {result.value[1] for result in results} == {threading.main_thread()}


class Sleeping:
    """Stage that sleeps at 0 until it is stopped. Meanwhile it raises inputs that are exceptions, and yields others."""

    def __init__(self, ended):
        self.ended = ended
        self.asleep = ended.asleep

    def __call__(self, item):
        try:
            while item == 0:
                self.asleep.set()
                end_if_stopped()
                time.sleep(0.01)
            assert self.asleep.wait(60)
            if isinstance(item, BaseException):
                raise item
            yield item
        finally:
            self.ended.append(item)


class Ended(list):
    """Inputs whose processing has ended."""

    def __init__(self):
        self.asleep = threading.Event()


def names_of_threads():
    return [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("error", [BitcipherError("The input is damaged."), KeyboardInterrupt(), SystemExit("ended")])
def test_error_of_a_thread_is_raised_after_the_other_threads_ended(error):
    spec = StageSpec("sleeping", Sleeping, {"ended": (ended := Ended())}, in_parallel=True)
    with pytest.raises(type(error)) as raised:
        list(InProcessRuntime(threads=2).stream(spec, [0, error, 0]))
    assert raised.value is error
    assert ended == [error, 0]
    assert "sleeping" not in names_of_threads()


@pytest.mark.parametrize("reason", [GeneratorExit, KeyboardInterrupt])
def test_threads_end_when_the_caller_stops(reason):
    spec = StageSpec("sleeping", Sleeping, {"ended": (ended := Ended())}, in_parallel=True)
    results = InProcessRuntime(threads=2).stream(spec, [1, 0])
    assert next(results).value == 1
    with pytest.raises(reason):
        results.throw(reason)
    assert sorted(ended) == [0, 1]
    assert "sleeping" not in names_of_threads()


def test_threads_take_no_further_inputs_when_the_caller_stops():
    spec = StageSpec("sleeping", Sleeping, {"ended": (ended := Ended())}, in_parallel=True)
    results = InProcessRuntime(threads=2).stream(spec, [0, *range(1, 10_000)])
    next(results)
    results.close()
    assert 2 <= len(ended) < 10_000


class Working:
    """Stage that uses as many seconds of CPU time as an input says."""

    def __call__(self, item):
        start = time.thread_time()
        while time.thread_time() - start < item:
            time.sleep(0)
        yield item


def test_cpu_time_is_that_of_the_thread():
    spec = StageSpec("working", Working, {}, in_parallel=True)
    costs = {result.value: result.cost for result in InProcessRuntime(threads=2).stream(spec, [0.1, 0.6])}
    assert 0.1 <= costs[0.1].cpu_seconds < 0.4
    assert 0.6 <= costs[0.6].cpu_seconds < 0.9


def test_each_thread_has_a_budget():
    alone, two = MemoryBudget(1500), MemoryBudget(1500, threads=2)
    assert two.range_entries == alone.range_entries
    assert two.weighted_entries > 2 * alone.weighted_entries
