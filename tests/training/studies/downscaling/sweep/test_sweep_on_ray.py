"""Trials of a study on Ray Tune: results, errors, and killed processes."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest
import tiny_study

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files
from pipelines.store.lease import Lease
from training.loop.stop_request import RUN_LEASE, STOP
from training.search.trials import Trial, TrialResources, run_trials
from training.studies.downscaling.sweep.trial_runs import pretrain_trial

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("one_thread")]


@pytest.fixture(scope="module")
def folder(ray_cluster, tmp_path_factory):
    return tiny_study.write(tmp_path_factory.mktemp("study") / "folder")


def sweep(folder, out, *arguments):
    """Run a study in a new process, which starts Ray itself, and return its findings."""
    command = [sys.executable, "-m", "cluster.cli.main", "sweep", "study.yaml", "--out", out, *arguments]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}  # as trials on Ray have
    result = subprocess.run(
        list(map(str, command)), cwd=folder, env=one_thread, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "completed" not in result.stdout + result.stderr  # Ray Tune's own progress is not printed
    return json.loads((out / "report" / "findings.json").read_text())


@pytest.fixture(scope="module")
def findings(folder):
    """Return the findings of a study whose trials ran sequentially in this process."""
    return sweep(folder, folder / "straight")


@pytest.mark.slow
def test_concurrent_trials_give_same_findings_and_leave_no_ray_files(folder, findings):
    out = folder / "at-once"
    assert sweep(folder, out, "--max-concurrent-trials", 2) == findings
    names = {"language", "models", "prepared", "report", "run-lease", "study.json", "tasks"}
    assert {path.name for path in out.iterdir()} == names
    assert not list(out.rglob("*.pkl"))
    curves = {path: path.stat().st_mtime_ns for path in out.rglob("metrics.jsonl")}
    assert sweep(folder, out, "--max-concurrent-trials", 2) == findings
    assert {path: path.stat().st_mtime_ns for path in out.rglob("metrics.jsonl")} == curves


def trial_of(config, test=""):
    folder = config["folder"]
    return Trial(Path(folder).name, folder, partial(pretrain_trial, config, test))


def pretraining(study, name, target, text=None, **loop):
    """Return a pre-training trial of the study, with another folder."""
    config = json_files.read(str(study / "models" / name / "run.json"))
    config["recipe"]["loop"] |= loop
    target.mkdir(parents=True)
    config |= {"folder": str(target)}
    # The validation split of the text serves as the test split.
    return trial_of({**config, "text": text or config["text"]}, test=config["text"])


@pytest.mark.slow
def test_error_of_a_trial_stops_the_others_with_a_checkpoint(folder, findings, tmp_path):
    name, loop = tiny_study.SHAPES[0], {"max_steps": 100_000, "eval_steps": 50_000, "save_steps": 50_000}
    texts = {"long": None, "bad": str(tmp_path / "nowhere"), "waiting": None}
    long, bad, waiting = (
        pretraining(folder / "straight", name, tmp_path / "models" / each, text, **loop) for each, text in texts.items()
    )
    (tmp_path / "ray-tune-0123abcd").mkdir()  # left by a killed driver
    (tmp_path / "ray-tune-notes").mkdir()  # made by the user
    ended = []
    with Lease(str(tmp_path), RUN_LEASE), pytest.raises(BitcipherError) as error:
        run_trials([long, bad, waiting], TrialResources(2), str(tmp_path), ended.append)
    assert f"{tmp_path}/nowhere" in str(error.value)
    assert "failed" not in str(error.value)  # a user error is not retried
    assert ended == []
    assert not (tmp_path / "models" / "waiting" / "metrics.jsonl").exists()
    assert list(tmp_path.glob("ray-tune-*")) == [tmp_path / "ray-tune-notes"]
    assert not (tmp_path / STOP).exists()


def test_exception_of_a_trial_is_named_at_once(folder, findings, tmp_path):
    trial = trial_of({"folder": str(tmp_path / "broken")})
    with pytest.raises(BitcipherError, match=r"^The trial broken failed \(KeyError: 'recipe'\)"):
        run_trials([trial], TrialResources(1), str(tmp_path), lambda name: None)


def test_missing_gpu_raises(ray_cluster, tmp_path):
    import ray

    if ray.cluster_resources().get("GPU"):
        return
    trial = trial_of({"folder": str(tmp_path)})
    with pytest.raises(BitcipherError, match="--gpus"):
        run_trials([trial], TrialResources(1, 0.5), str(tmp_path), lambda name: None)


def writer_of(run):
    """Return the id of the process that has the metrics file of a run open."""
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if path.readlink() == run / "metrics.jsonl":
                return int(path.parts[2])
    return None


def curve_of(run):
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


@pytest.mark.slow
def test_killed_trial_resumes_from_checkpoint(folder, findings, tmp_path):
    name, loop = tiny_study.SHAPES[2], {"max_steps": 400, "eval_steps": 100, "save_steps": 100}
    study = folder / "straight"
    straight, killed = (pretraining(study, name, tmp_path / each, **loop) for each in ("straight", "killed"))
    run_trials([straight], TrialResources(0), str(tmp_path), lambda name: None)
    run = tmp_path / "killed"
    tuning = threading.Thread(target=run_trials, args=([killed], TrialResources(2), str(tmp_path), lambda name: None))
    tuning.start()
    while tuning.is_alive() and not (run / "checkpoints" / "00000200").exists():
        time.sleep(0.02)
    first = writer_of(run)
    assert first not in (None, os.getpid())
    os.kill(first, signal.SIGKILL)
    tuning.join(120)
    assert not tuning.is_alive()
    assert curve_of(run) == curve_of(tmp_path / "straight")
    assert json.loads((run / "ended.json").read_text()) == json.loads((tmp_path / "straight/ended.json").read_text())
