"""Stages in process and on Ray.

Stages are defined inside tests, so that they are pickled by value: workers cannot import this file.
"""

import json
import os
import signal
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from bitcipher.errors import BitcipherError
from pipelines.runtime import ray_data, ray_runtime
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.ray_data import RayDataRuntime
from pipelines.runtime.ray_runtime import RayRuntime
from pipelines.runtime.runtime import StageSpec

MEMORY = 100 << 20


@pytest.fixture
def on_ray(ray_cluster):
    with RayRuntime(2, MEMORY) as runtime:
        yield runtime


@pytest.fixture(params=["in process", "on Ray"])
def anywhere(request):
    return InProcessRuntime() if request.param == "in process" else request.getfixturevalue("on_ray")


def rows(number):
    return [SimpleNamespace(id=i) for i in range(number)]


def attempts(folder):
    """Return the number of attempts per input."""
    names = [path.name.split("-")[0] for path in Path(folder).iterdir()]
    return {int(name): names.count(name) for name in names}


def dying(folder, deaths):
    """Return a stage whose worker kills itself at an input, as often as `deaths` says."""

    class Dying:
        # Workers identify a stage by its name and arguments.
        def __init__(self, folder, deaths):
            self.folder = folder
            self.deaths = deaths

        def __call__(self, item):
            begun = [name for name in os.listdir(self.folder) if name.startswith(f"{item.id}-")]
            with open(f"{self.folder}/{item.id}-{len(begun)}", "x"):
                pass
            if len(begun) < self.deaths.get(item.id, 0):
                os.kill(os.getpid(), signal.SIGKILL)
            yield {"index": item.id}

    return StageSpec("dying", Dying, {"folder": folder, "deaths": deaths})


def test_all_inputs_are_processed_and_measured(anywhere):
    class Repeat:
        def __init__(self, text):
            self.text = text

        def __call__(self, item):
            for number in range(item.id):
                yield {"index": item.id, "number": number, "text": self.text}

    results = list(anywhere.stream(StageSpec("repeat", Repeat, {"text": "naïve"}), rows(5)))
    found = sorted((result.value["index"], result.value["number"]) for result in results)
    assert found == [(i, number) for i in range(5) for number in range(i)]
    assert {result.value["text"] for result in results} == {"naïve"}
    for result in results:
        assert result.stage == "repeat"
        assert 0 <= result.cost.cpu_seconds < 60 > result.cost.seconds >= 0
        assert result.cost.peak_bytes > 10 << 20
    assert list(anywhere.stream(StageSpec("repeat", Repeat, {"text": ""}), [])) == []


def test_stage_is_made_once_per_worker(anywhere):
    class Made:
        def __init__(self):
            self.rows = 0

        def __call__(self, item):
            self.rows += 1
            yield {"pid": os.getpid(), "rows": self.rows}

    results = list(anywhere.stream(StageSpec("made", Made, {}), rows(12)))
    for pid in {result.value["pid"] for result in results}:
        seen = sorted(result.value["rows"] for result in results if result.value["pid"] == pid)
        assert seen == list(range(1, len(seen) + 1))


def test_bitcipher_errors_of_a_stage_keep_their_message(anywhere):
    class Mistaken:
        def __call__(self, item):
            if item.id == 2:
                raise BitcipherError("Line 7 of a.jsonl is no JSON: mend it.")
            yield {"index": item.id}

    with pytest.raises(BitcipherError, match=r"^Line 7 of a\.jsonl is no JSON: mend it\.$"):
        list(anywhere.stream(StageSpec("mistaken", Mistaken, {}), rows(4)))


def test_errors_of_a_stage_constructor_are_raised(anywhere):
    class Unmakeable:
        def __init__(self):
            raise BitcipherError("There is no tokenizer 'x'.")

    with pytest.raises(BitcipherError, match="There is no tokenizer 'x'"):
        list(anywhere.stream(StageSpec("unmakeable", Unmakeable, {}), rows(1)))


def test_other_exceptions_are_raised_and_not_retried(anywhere, tmp_path):
    class Faulty:
        def __call__(self, item):
            with open(f"{tmp_path}/{item.id}-{time.monotonic_ns()}", "x"):
                pass
            yield {"share": 1 / item.id}

    with pytest.raises(ZeroDivisionError):
        list(anywhere.stream(StageSpec("faulty", Faulty, {}), rows(1)))
    assert attempts(tmp_path) == {0: 1}


def test_inputs_of_dead_workers_are_repeated(on_ray, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("BITCIPHER_LOG", "json")
    results = list(on_ray.stream(dying(str(tmp_path), {1: 2, 4: 1}), rows(6)))
    assert sorted(result.value["index"] for result in results) == list(range(6))
    # One more attempt per death. Inputs of other workers are not repeated.
    assert attempts(tmp_path) == {0: 1, 1: 3, 2: 1, 3: 1, 4: 2, 5: 1}
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    died = sorted((event["input"], event["attempt"]) for event in events if event["event"] == "worker died")
    assert died == [("1", 1), ("1", 2), ("4", 1)]


def test_input_that_kills_every_worker_raises(on_ray, tmp_path, monkeypatch):
    monkeypatch.setattr(ray_runtime, "ATTEMPTS", 2)
    with pytest.raises(BitcipherError, match=r"2 workers died on the same input of stage dying \(\w+\): give"):
        list(on_ray.stream(dying(str(tmp_path), {0: 99}), rows(1)))
    assert attempts(tmp_path) == {0: 2}


def test_number_of_concurrent_tasks_equals_the_workers(on_ray, tmp_path):
    class Meeting:
        """Stage that waits until a number of inputs are being processed."""

        def __init__(self, folder):
            self.folder = folder

        def __call__(self, item):
            start = time.time()
            open(f"{self.folder}/{item.id}", "x").close()
            while len(os.listdir(self.folder)) < item.others:
                time.sleep(0.01)
            time.sleep(0.1)
            yield {"start": start, "end": time.time()}

    stage = StageSpec("meeting", Meeting, {"folder": str(tmp_path)})
    assert len(list(on_ray.stream(stage, [SimpleNamespace(id=i, others=2) for i in range(2)]))) == 2
    # Two worker processes exist now, but a runtime with one worker processes one input at a time.
    more = [SimpleNamespace(id=i, others=0) for i in range(2, 8)]
    with RayRuntime(1, MEMORY) as alone:
        found = sorted((result.value["start"], result.value["end"]) for result in alone.stream(stage, more))
    assert all(one[1] <= other[0] for one, other in pairwise(found))


def test_results_are_streamed(on_ray, tmp_path):
    class Waiting:
        def __call__(self, item):
            while item.id == 0 and not os.path.exists(f"{tmp_path}/go"):
                time.sleep(0.01)
            yield {"index": item.id}

    seen = []
    for result in on_ray.stream(StageSpec("waiting", Waiting, {}), rows(4)):
        seen.append(result.value["index"])
        if len(seen) == 3:
            (tmp_path / "go").touch()
    assert sorted(seen[:3]) == [1, 2, 3]
    assert seen[3] == 0


def test_running_tasks_are_cancelled_when_the_stream_is_closed(on_ray, tmp_path):
    class Endless:
        def __call__(self, item):
            if item.id == 0:
                with open(f"{tmp_path}/pid", "w") as file:
                    file.write(str(os.getpid()))
                os.rename(f"{tmp_path}/pid", f"{tmp_path}/running")
                time.sleep(1000)
            while not os.path.exists(f"{tmp_path}/running"):
                time.sleep(0.01)
            yield {"index": item.id}

    results = on_ray.stream(StageSpec("endless", Endless, {}), rows(2))
    assert next(results).value["index"] == 1
    results.close()
    pid = int((tmp_path / "running").read_text())
    end = time.monotonic() + 30
    while is_running(pid):
        assert time.monotonic() < end, "the worker goes on"
        time.sleep(0.05)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Nothing:
    """Stage that is never created."""


def test_too_large_memory_raises_when_no_node_joins(ray_cluster, monkeypatch):
    monkeypatch.setattr(ray_runtime, "JOIN_SECONDS", 0)
    monkeypatch.setattr(ray_runtime, "POLL_SECONDS", 0.3)
    with RayRuntime(1, 1 << 44) as runtime, pytest.raises(BitcipherError) as raised:
        list(runtime.stream(StageSpec("nothing", Nothing, {}), rows(1)))
    assert "16,777,216 MiB" in str(raised.value)
    assert "--memory-mib" in str(raised.value)


def test_waiting_for_a_node_ends(ray_cluster, monkeypatch):
    monkeypatch.setattr(ray_runtime, "JOIN_SECONDS", 1)
    monkeypatch.setattr(ray_runtime, "POLL_SECONDS", 0.3)
    with RayRuntime(1, 1 << 44) as runtime, pytest.raises(BitcipherError, match="No node of the Ray cluster"):
        list(runtime.stream(StageSpec("nothing", Nothing, {}), rows(1)))


def test_ray_data_raises_when_no_node_has_the_memory(ray_cluster, monkeypatch):
    monkeypatch.setattr(ray_data, "JOIN_SECONDS", 1)
    monkeypatch.setattr(ray_data, "POLL_SECONDS", 0.3)
    with RayDataRuntime(1, 1 << 44) as runtime, pytest.raises(BitcipherError, match="No node of the Ray cluster"):
        list(runtime.stream(StageSpec("nothing", Nothing, {}), rows(1)))


def test_zero_workers_run_in_process():
    with open_runtime(0) as runtime:
        assert (type(runtime), runtime.workers) == (InProcessRuntime, 0)
    assert type(open_runtime(3, MEMORY)) is RayRuntime
