"""SIGTERM, or the file of a launcher, saves a checkpoint and ends a run, which resumes exactly."""

import signal
import threading

import pytest
from tiny_runs import config_of, curve_of

from bitcipher.files import storage
from training.loop.checkpoint_folders import latest_checkpoint
from training.loop.stop_request import STOP, STOPPED, catching_stop_requests
from training.runs.calls import writing_stop_file
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("last", [1, 4, 6, 12])
def test_sigterm_saves_a_checkpoint(finished_run, tiny_text, tmp_path, last):
    config, handler = config_of(tmp_path, tiny_text), signal.getsignal(signal.SIGTERM)

    def interrupt(step, note):
        if step == last and "validation" not in note:  # an evaluation notes the same step again
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit) as end:
        run_pretraining(config, interrupt)
    assert end.value.code == STOPPED == 143
    assert signal.getsignal(signal.SIGTERM) == handler
    assert int(latest_checkpoint(tmp_path).name) == last
    run_pretraining(config)
    assert curve_of(tmp_path) == curve_of(finished_run)
    weights = [(latest_checkpoint(run) / "model.safetensors").read_bytes() for run in (tmp_path, finished_run)]
    assert weights[0] == weights[1]


def test_file_of_the_launcher_stops_a_run_in_a_thread(tiny_text, tmp_path):
    config, codes = config_of(tmp_path, tiny_text), []
    (tmp_path / STOP).touch()

    def train():
        try:
            run_pretraining(config)
        except SystemExit as end:
            codes.append(end.code)

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert codes == [STOPPED]
    assert latest_checkpoint(tmp_path).name == "00000001"


def test_second_sigterm_is_handled_as_before(tmp_path):
    received, asked = [], []

    def stop_twice():
        with catching_stop_requests(str(tmp_path)) as is_asked:
            for _ in range(2):
                signal.raise_signal(signal.SIGTERM)
                asked.append((is_asked(), len(received)))

    previous = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        with pytest.raises(SystemExit):
            stop_twice()
    finally:
        signal.signal(signal.SIGTERM, previous)
    assert asked == [(True, 0), (True, 1)]


def test_run_in_a_store_stops_by_the_file_of_its_launcher(tmp_path):
    folder = f"memory://{tmp_path}"
    with writing_stop_file(f"{folder}/{STOP}"), catching_stop_requests(folder) as is_asked:
        storage.write_bytes(f"{folder}/{STOP}", b"")
        assert is_asked()
    assert not storage.exists(f"{folder}/{STOP}")
