"""Runs in an S3 store that are killed resume to the bit."""

import os
import re
import signal
from pathlib import Path

import pytest
from commands import Command
from object_store import Fault
from stored_runs import STEPS, THREADS, check_equal, wait_for_checkpoint, write_recipe
from tiny_runs import config_of, write_tiny_text
from torch import distributed as dist
from torch.multiprocessing.spawn import ProcessException
from two_processes import on_two

from bitcipher.files import storage
from training.loop.checkpoint_folders import checkpoint_names
from training.loop.stop_request import RUN_LEASE
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.long

# HTTP methods that change the store.
WRITES = "PUT POST DELETE"


@pytest.fixture
def recipe(tmp_path: Path, s3: str) -> Path:
    """Recipe whose text is in the store."""
    return write_recipe(tmp_path / "setup", s3)


@pytest.mark.slow
def test_killed_run_in_process_resumes_to_the_bit(s3: str, recipe: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def start(out: object, name: str) -> Command:
        log = tmp_path / f"{name}.log"
        return Command("train", recipe, "--out", out, log=log, **THREADS)

    assert start(tmp_path / "disk", "disk").wait() == 0
    killed = start(f"{s3}/run", "killed")
    wait_for_checkpoint(f"{s3}/run", killed)
    killed.kill()
    assert len(checkpoint_names(f"{s3}/run")) >= 1
    resumed = start(f"{s3}/run", "resumed")
    assert resumed.wait() == 0, resumed.error_output()
    check_equal(f"{s3}/run", tmp_path / "disk")
    assert list((tmp_path / "cache" / "bitcipher" / "runs").iterdir()) == []
    assert not [name for name in storage.list_files(f"{s3}/run") if name.startswith("ray-")]


@pytest.mark.parametrize("number", [60, *(pytest.param(each, marks=pytest.mark.slow) for each in (90, 120))])
def test_store_that_fails_ends_the_run_with_a_sentence(
    s3, faulty_s3, recipe, tmp_path, monkeypatch, run_command, number
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    line = ("train", recipe, "--set", "embeddings={}")
    assert run_command(*line, "--out", tmp_path / "disk").code == 0
    faulty_s3.plan = [Fault("none", WRITES, times=number), Fault("AccessDenied", WRITES)]
    failed = run_command(*line, "--out", f"{s3}/run")
    assert failed.code == 2
    assert re.search(rf"^bitcipher: Cannot [\w ]+ {s3}/.*run this again\.$", failed.err, re.MULTILINE), failed.err
    assert "Traceback" not in failed.err
    faulty_s3.plan = []
    storage.remove(f"{s3}/run/{RUN_LEASE}")  # a job without access to the store cannot release it
    resumed = run_command(*line, "--out", f"{s3}/run")
    assert resumed.code == 0, resumed.err
    check_equal(f"{s3}/run", tmp_path / "disk")


def train_on_own_disk(config: dict) -> None:
    """Train in a process whose copies are in its own folder, and which dies at a step if the config has one."""
    os.environ["XDG_CACHE_HOME"] = f"{config['caches']}/{dist.get_rank()}"

    def advance(step: int, note: str) -> None:
        if step == config.get("dies_at") and dist.get_rank() == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    run_pretraining({name: config[name] for name in ("recipe", "text", "vectors", "folder")}, advance)


def test_killed_processes_with_disks_of_their_own_resume_to_the_bit(s3: str, tmp_path: Path):
    config = config_of(tmp_path / "disk", write_tiny_text(tmp_path / "text"), loop=STEPS)
    for name in storage.list_files(config["text"]):
        storage.write_bytes(f"{s3}/text/{name}", (tmp_path / "text" / name).read_bytes())
    stored = {**config, "text": f"{s3}/text", "folder": f"{s3}/run", "caches": str(tmp_path)}
    on_two(run_pretraining, config)
    with pytest.raises(ProcessException):
        on_two(train_on_own_disk, {**stored, "dies_at": 70})
    assert checkpoint_names(f"{s3}/run") == ["00000040", "00000060"]
    on_two(train_on_own_disk, stored)
    check_equal(f"{s3}/run", tmp_path / "disk")
    for rank in "01":
        assert list((tmp_path / rank / "bitcipher" / "runs").iterdir()) == []
