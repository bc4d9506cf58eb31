"""Two jobs on the folder of a run: one trains, and the other stops with a sentence."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tiny_commands import SETTINGS, STUDY, arguments_of, train, write_corpus
from tiny_runs import config_of, curve_of, write_tiny_text
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from cluster.cli.main import app
from pipelines.store import lease as lease_module
from pipelines.store.lease import Lease
from training.loop.stop_request import RUN_LEASE
from training.runs.launch.run_dir import leasing_run_dir
from training.runs.pretraining_run import run_pretraining


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_tiny_text(tmp_path_factory.mktemp("text"))


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_second_training_is_refused(tmp_path):
    write_corpus(tmp_path / "corpus")
    settings = arguments_of((*SETTINGS, f"text.sources=[{tmp_path / 'corpus'}]"))
    line = ("train", "figure-4-random", "--out", tmp_path / "run", "--prepared", tmp_path / "prepared", *settings)
    with leasing_run_dir(str(tmp_path / "run"), "run.json"):
        result = call(*line)
    assert isinstance(result.exception, BitcipherError)
    assert f"Another job is running on {tmp_path / 'run'} (on " in str(result.exception)
    assert {path.name for path in (tmp_path / "run").iterdir()} == {RUN_LEASE}
    assert call(*line).exit_code == 0


def test_second_finetuning_and_sweep_are_refused(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer.json").write_text("{}")
    for command, config in (
        (("finetune", tmp_path / "model", "--task", "sst2", "--data", tmp_path, "--out", tmp_path / "run"), "run.json"),
        (("sweep", "downscaling-small", "--out", tmp_path / "run", *arguments_of(STUDY)), "study.json"),
    ):
        with leasing_run_dir(str(tmp_path / "run"), config):
            result = call(*command, *(("--set", "sources=[x]") if command[0] == "sweep" else ()))
        assert f"Another job is running on {tmp_path / 'run'} (on " in str(result.exception), command


def test_lease_of_a_killed_job_does_not_block(tmp_path):
    reading_end, writing_end = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException), leasing_run_dir(str(tmp_path / "run"), "run.json"):
            os.write(writing_end, b".")
            time.sleep(60)
        os._exit(1)
    assert os.read(reading_end, 1) == b"."
    with (
        pytest.raises(BitcipherError, match=f"process {child}, since"),
        leasing_run_dir(str(tmp_path / "run"), "run.json"),
    ):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with leasing_run_dir(str(tmp_path / "run"), "run.json"):
        pass


def test_overtaken_training_stops_before_it_writes(text, tmp_path, monkeypatch):
    """A job that is suspended for longer than its lease lasts, and goes on while another job trains."""
    monkeypatch.setattr(lease_module, "HEARTBEAT_SECONDS", 60.0)
    monkeypatch.setattr(lease_module, "EXPIRY_SECONDS", 0.05)
    steps = []

    def overtake(step, note):
        steps.append(step)
        if step == 6:
            second = Lease(str(tmp_path), RUN_LEASE)
            time.sleep(0.1)
            second.__enter__()
            successors.append(second)

    successors = []
    with pytest.raises(BitcipherError, match=f"Another job has taken over {tmp_path}"):
        with leasing_run_dir(str(tmp_path), "run.json"):
            run_pretraining(config_of(tmp_path, text), overtake)
    assert steps[-1] == 6
    assert [line["step"] for line in curve_of(tmp_path)][-1] == 6
    assert {path.name for path in (tmp_path / "checkpoints").iterdir()} == {"00000004"}
    successors[0].__exit__(None, None, None)
    with leasing_run_dir(str(tmp_path), "run.json"):
        run_pretraining(config_of(tmp_path, text))
    run_pretraining(config_of(tmp_path / "uninterrupted", text))
    assert curve_of(tmp_path) == curve_of(tmp_path / "uninterrupted")


def test_trials_are_stopped_with_their_study(text, tmp_path):
    folder = tmp_path / "models" / "a"
    lease = tmp_path / RUN_LEASE

    def overtake(step, note):
        (lease / "000002.json").write_bytes((lease / "000001.json").read_bytes())

    with leasing_run_dir(str(tmp_path), "study.json"), pytest.raises(BitcipherError, match="has taken over"):
        run_pretraining(config_of(folder, text), overtake)
    assert not (folder / "checkpoints").exists()


def test_other_folders_are_refused_and_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with (
        pytest.raises(BitcipherError, match="not empty, and does not hold"),
        leasing_run_dir(str(tmp_path), "run.json"),
    ):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt"}


def test_run_is_no_build_and_a_build_is_no_run(tmp_path):
    run, corpus = train(tmp_path, tmp_path / "run"), tmp_path / "corpus"
    for command in ("build", "shard"):
        result = call(command, corpus, "--out", run)
        assert isinstance(result.exception, BitcipherError), result.exception
    with Lease(str(tmp_path / "vectors")):
        pass
    with pytest.raises(BitcipherError, match="not empty"), leasing_run_dir(str(tmp_path / "vectors"), "run.json"):
        pass
    assert Path(run, RUN_LEASE).is_dir()
