"""Killed workers and drivers of training: the resumed run equals an uninterrupted one."""

import contextlib
import os
import runpy
import signal
import threading
import time
from pathlib import Path

import pytest
import yaml
from commands import Command
from tiny_runs import RECIPE, config_of, curve_of, tiny_documents, write_tiny_text

from bitcipher.errors import BitcipherError
from training.loop.checkpoint_folders import find_latest_checkpoint, latest_checkpoint
from training.loop.stop_request import STOP
from training.runs.pretraining_run import run_pretraining
from training.runs.workers import run_workers

pytestmark = pytest.mark.long

STEPS = {"max_steps": 120, "eval_steps": 40, "save_steps": 24, "micro_batch_size": 4}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_tiny_text(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def uninterrupted(ray_cluster, text, tmp_path_factory):
    """Metrics of an uninterrupted run on two workers."""
    folder = tmp_path_factory.mktemp("uninterrupted") / "run"
    train(config_of(folder, text, loop=STEPS))
    return curve_of(folder)


def train(config):
    """Train on two Ray workers."""
    folder = Path(config["folder"])

    def count_steps():
        latest = find_latest_checkpoint(folder)
        return int(latest.name) if latest else 0

    run_workers(run_pretraining, config, 2, "cpu", str(folder / "ray"), str(folder / STOP), count_steps)


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


@pytest.mark.parametrize("step", [15, pytest.param(52, marks=pytest.mark.slow)])
def test_resume_after_worker_death_is_exact(uninterrupted, text, tmp_path, step):
    config = config_of(tmp_path, text, loop=STEPS)
    run = threading.Thread(target=train, args=(config,))
    run.start()
    wait_for_step(tmp_path, step, run.is_alive)
    first = training_workers()
    assert len(first) == 2
    os.kill(min(first), signal.SIGKILL)
    wait_for_step(tmp_path, 120, run.is_alive)
    assert training_workers() != first  # new workers took over
    run.join(120)
    assert not run.is_alive()
    assert curve_of(tmp_path) == uninterrupted


def test_one_and_two_workers_give_the_same_metrics(uninterrupted, text, tmp_path):
    run_pretraining(config_of(tmp_path, text, loop=STEPS))
    for one, two in zip(curve_of(tmp_path), uninterrupted, strict=True):
        assert one == pytest.approx(two, rel=1e-4)


@pytest.fixture
def start(ray_cluster, tmp_path):
    """Function that starts `bitcipher train` with a number of workers."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(tiny_documents()))
    recipe = tmp_path / "recipe.yaml"
    text = {"sources": [str(corpus)], "validation_fraction": 0.2, "tokenizer": {"vocab_size": 300}}
    recipe.write_text(yaml.safe_dump({**RECIPE, "text": text, "loop": RECIPE["loop"] | STEPS}))

    # A second cluster on this machine would need the ports of the first.
    environment = {"RAY_ADDRESS": ray_cluster.cluster, "OMP_NUM_THREADS": "1"}

    def start(name, workers, *settings):
        arguments = ["train", recipe, "--out", tmp_path / name, "--prepared", tmp_path / "prepared", *settings]
        return Command(*arguments, "--workers", workers, log=tmp_path / f"{name}.log", **environment)

    return start


@pytest.mark.parametrize(
    ("workers", "number"),
    [
        (0, signal.SIGKILL),
        pytest.param(2, signal.SIGKILL, marks=pytest.mark.slow),
        pytest.param(2, signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_resume_after_driver_death_is_exact(start, tmp_path, workers, number):
    assert start("uninterrupted", workers).wait() == 0
    killed = start("killed", workers)
    wait_for_step(tmp_path / "killed", 15, lambda: killed.is_running)
    assert killed.is_running
    if number == signal.SIGKILL:
        killed.kill()
    else:
        killed.process.send_signal(number)
        assert killed.wait() == 143
        assert "run the same command again" in (tmp_path / "killed.log").read_text()
        assert 15 <= int(latest_checkpoint(tmp_path / "killed").name) < 120
        assert not (tmp_path / "killed" / STOP).exists()
    assert len(curve_of(tmp_path / "killed")) < len(curve_of(tmp_path / "uninterrupted"))
    assert start("killed", workers).wait() == 0
    assert curve_of(tmp_path / "killed") == curve_of(tmp_path / "uninterrupted")


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_diverged_run_ends_with_a_sentence(start, tmp_path, workers):
    diverged = start("diverged", workers, "--set", "loop.learning_rate=1e30", "--set", "loop.max_grad_norm=1e30")
    assert diverged.wait() == 2
    log = (tmp_path / "diverged.log").read_text()
    assert "not finite (NaN or infinite) at step" in log
    assert log.count("bitcipher: ") == 1
    assert "Traceback" not in log
    assert find_latest_checkpoint(tmp_path / "diverged") is None


def run_script(folder, code):
    """Run Python code on two Ray workers, in a folder that is its first argument."""
    script = folder / "script.py"
    script.write_text(
        f"from pathlib import Path\nimport torch.distributed as dist\nFOLDER = Path({str(folder)!r})\n{code}"
    )
    # Any function of a module that workers can import.
    run_workers(runpy.run_path, str(script), 2, "cpu", str(folder / "ray"), str(folder / STOP), lambda: 0)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        pytest.param(
            "(FOLDER / 'nowhere.bin').read_bytes()",
            r"failed once without a new checkpoint .*FileNotFoundError.*nowhere",
            marks=pytest.mark.slow,
        ),
        (
            "from training.data.token_streams import TokenDataset\n    TokenDataset.open(str(FOLDER))",
            r"^There is no .*text\.json",
        ),
    ],
)
def test_file_that_one_worker_lacks_is_named_soon(ray_cluster, tmp_path, code, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        run_script(tmp_path, f"if dist.get_rank() == 1:\n    {code}\ndist.barrier()")


@pytest.mark.slow
def test_workers_that_die_without_progress_end_the_run(ray_cluster, tmp_path):
    code = """import torch
assert torch.get_num_threads() == 1
if dist.get_rank() == 0:
    (FOLDER / f"call-{len(list(FOLDER.glob('call-*')))}").touch()
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)
dist.barrier()"""
    with pytest.raises(BitcipherError, match=r"3 times in a row .*worker process has died"):
        run_script(tmp_path, code)
    assert len(list(tmp_path.glob("call-*"))) == 3
    from ray.util import placement_group_table

    assert {group["state"] for group in placement_group_table().values()} == {"REMOVED"}  # so they hold no CPUs
