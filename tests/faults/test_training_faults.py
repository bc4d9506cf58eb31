"""Workers and drivers of training that are killed: the curve goes on to the bit as if nothing had happened."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from commands import Command
from tiny_runs import RECIPE, config_of, curve_of, tiny_documents, write_tiny_text

from training.pretrain import pretrain
from training.runtime import run_workers

pytestmark = pytest.mark.long

STEPS = {"steps": 300, "evaluate_every": 100, "checkpoint_every": 60, "micro_batch": 4}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_tiny_text(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def undisturbed(ray_cluster, text, tmp_path_factory):
    """The curve of two workers to whom nothing happens."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    run_workers(pretrain, config_of(folder, text, loop=STEPS), 2, "cpu", folder / "ray")
    return curve_of(folder)


def wait_for_step(folder, step, is_running=lambda: True):
    metrics = folder / "metrics.jsonl"
    while is_running() and not (metrics.exists() and f'"step": {step},' in metrics.read_text()):
        time.sleep(0.05)


def training_workers():
    """The processes of Ray Train's workers, by the names that Ray gives them."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(b"ray::") and b"TrainWorker" in path.read_bytes():
                found.add(int(path.parent.name))
    return found


@pytest.mark.parametrize("step", [20, 130])
def test_a_run_goes_on_to_the_bit_when_a_worker_is_killed(undisturbed, text, tmp_path, step):
    config = config_of(tmp_path, text, loop=STEPS)
    run = threading.Thread(target=run_workers, args=(pretrain, config, 2, "cpu", tmp_path / "ray"))
    run.start()
    wait_for_step(tmp_path, step, run.is_alive)
    first = training_workers()
    assert len(first) == 2
    os.kill(min(first), signal.SIGKILL)
    wait_for_step(tmp_path, 300, run.is_alive)
    assert training_workers() != first  # others took over
    run.join(120)
    assert not run.is_alive()
    assert curve_of(tmp_path) == undisturbed


def test_one_and_two_workers_agree_to_rounding(undisturbed, text, tmp_path):
    pretrain(config_of(tmp_path, text, loop=STEPS))
    for one, two in zip(curve_of(tmp_path), undisturbed, strict=True):
        assert one == pytest.approx(two, rel=1e-4)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_goes_on_to_the_bit_when_its_driver_is_killed(ray_cluster, tmp_path, workers):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(tiny_documents()))
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        f"text: {{sources: [{corpus}], validation_share: 0.2, tokenizer: {{size: 300}}}}\n"
        f"model: {RECIPE['model']}\nobjective: {RECIPE['objective']}\nloop: {RECIPE['loop'] | STEPS}\n"
    )

    # A second cluster on this machine would want the ports of the first.
    environment = {"RAY_ADDRESS": ray_cluster.cluster, "OMP_NUM_THREADS": "1"}

    def start(name):
        arguments = ["train", recipe, "--out", tmp_path / name, "--prepared", tmp_path / "prepared"]
        return Command(*arguments, "--workers", workers, log=tmp_path / f"{name}.log", **environment)

    assert start("straight").wait() == 0
    killed = start("killed")
    wait_for_step(tmp_path / "killed", 20, lambda: killed.is_running)
    assert killed.is_running
    killed.kill()
    assert len(curve_of(tmp_path / "killed")) < len(curve_of(tmp_path / "straight"))
    assert start("killed").wait() == 0
    assert curve_of(tmp_path / "killed") == curve_of(tmp_path / "straight")
