"""Killed workers and drivers of training: the resumed run equals an uninterrupted one."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

import pytest
import yaml
from commands import Command
from tiny_runs import RECIPE, config_of, curve_of, tiny_documents, write_tiny_text

from training.pretrain import pretrain
from training.runtime import run_workers

pytestmark = pytest.mark.long

STEPS = {"max_steps": 300, "eval_steps": 100, "save_steps": 60, "micro_batch_size": 4}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_tiny_text(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def uninterrupted(ray_cluster, text, tmp_path_factory):
    """Metrics of an uninterrupted run on two workers."""
    folder = tmp_path_factory.mktemp("uninterrupted") / "run"
    run_workers(pretrain, config_of(folder, text, loop=STEPS), 2, "cpu", folder / "ray")
    return curve_of(folder)


def wait_for_step(folder, step, is_running=lambda: True):
    metrics = folder / "metrics.jsonl"
    while is_running() and not (metrics.exists() and f'"step": {step},' in metrics.read_text()):
        time.sleep(0.05)


def training_workers():
    """Return the processes of Ray Train's workers, found by their names."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(b"ray::") and b"TrainWorker" in path.read_bytes():
                found.add(int(path.parent.name))
    return found


@pytest.mark.parametrize("step", [20, 130])
def test_resume_after_worker_death_is_exact(uninterrupted, text, tmp_path, step):
    config = config_of(tmp_path, text, loop=STEPS)
    run = threading.Thread(target=run_workers, args=(pretrain, config, 2, "cpu", tmp_path / "ray"))
    run.start()
    wait_for_step(tmp_path, step, run.is_alive)
    first = training_workers()
    assert len(first) == 2
    os.kill(min(first), signal.SIGKILL)
    wait_for_step(tmp_path, 300, run.is_alive)
    assert training_workers() != first  # new workers took over
    run.join(120)
    assert not run.is_alive()
    assert curve_of(tmp_path) == uninterrupted


def test_one_and_two_workers_give_the_same_metrics(uninterrupted, text, tmp_path):
    pretrain(config_of(tmp_path, text, loop=STEPS))
    for one, two in zip(curve_of(tmp_path), uninterrupted, strict=True):
        assert one == pytest.approx(two, rel=1e-4)


@pytest.mark.parametrize("workers", [0, 2])
def test_resume_after_driver_death_is_exact(ray_cluster, tmp_path, workers):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(tiny_documents()))
    recipe = tmp_path / "recipe.yaml"
    text = {"sources": [str(corpus)], "validation_fraction": 0.2, "tokenizer": {"vocab_size": 300}}
    recipe.write_text(yaml.safe_dump({**RECIPE, "text": text, "loop": RECIPE["loop"] | STEPS}))

    # A second cluster on this machine would need the ports of the first.
    environment = {"RAY_ADDRESS": ray_cluster.cluster, "OMP_NUM_THREADS": "1"}

    def start(name):
        arguments = ["train", recipe, "--out", tmp_path / name, "--prepared", tmp_path / "prepared"]
        return Command(*arguments, "--workers", workers, log=tmp_path / f"{name}.log", **environment)

    assert start("uninterrupted").wait() == 0
    killed = start("killed")
    wait_for_step(tmp_path / "killed", 20, lambda: killed.is_running)
    assert killed.is_running
    killed.kill()
    assert len(curve_of(tmp_path / "killed")) < len(curve_of(tmp_path / "uninterrupted"))
    assert start("killed").wait() == 0
    assert curve_of(tmp_path / "killed") == curve_of(tmp_path / "uninterrupted")
