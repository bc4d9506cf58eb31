"""Runs in an S3 store that are killed resume to the bit, in process and on two nodes that share only the store."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from commands import Command
from object_store import ENVIRONMENT, Fault
from tiny_runs import RECIPE, config_of, curve_of, tiny_documents, write_tiny_text
from torch import distributed as dist
from torch.multiprocessing.spawn import ProcessException
from two_processes import on_two

from bitcipher import storage
from training.file_digests import digest_file
from training.loop import RUN_LEASE, copying_run
from training.loop.checkpoint_folders import checkpoint_names
from training.pretrain import pretrain

pytestmark = pytest.mark.long

STEPS = {"max_steps": 120, "eval_steps": 20, "save_steps": 20, "micro_batch_size": 4, "save_total_limit": 2}
NAMES = ("model.safetensors", "optimizer.safetensors")
# HTTP methods that change the store.
WRITES = "PUT POST DELETE"
THREADS = {"OMP_NUM_THREADS": "1"}


@pytest.fixture
def setup(tmp_path: Path, s3: str) -> Path:
    """Folder with a recipe, whose text is in the store."""
    for number in range(2):
        lines = "\n".join(tiny_documents()[number::2])
        storage.write_bytes(f"{s3}/corpus/{number}.txt", lines.encode())
    text = {"sources": [f"{s3}/corpus/"], "validation_fraction": 0.2, "tokenizer": {"vocab_size": 300}}
    folder = tmp_path / "setup"
    folder.mkdir()
    embeddings = {"init": "cipher", "build": {"mode": "sum", "bits": 16}}
    recipe = {**RECIPE, "text": text, "embeddings": embeddings, "loop": RECIPE["loop"] | STEPS}
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    return folder


def check_equal(uri: str, folder: Path) -> None:
    """Check that a run in a store has the metrics and checkpoints of one on the disk."""
    with copying_run(uri) as copy:
        assert curve_of(copy) == curve_of(folder)
    steps = checkpoint_names(uri)
    assert steps == checkpoint_names(str(folder)) == ["00000100", "00000120"]
    for name in (f"checkpoints/{step}/{name}" for step in steps for name in NAMES):
        assert digest_file(f"{uri}/{name}") == digest_file(str(folder / name)), name


def wait_for_checkpoint(uri: str, command: Command) -> None:
    while command.is_running and not checkpoint_names(uri):
        time.sleep(0.1)
    assert command.is_running, command.error_output()


def test_killed_run_in_process_resumes_to_the_bit(s3: str, setup: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def start(out: object, name: str) -> Command:
        log = tmp_path / f"{name}.log"
        return Command("train", setup / "recipe.yaml", "--out", out, log=log, **THREADS)

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


@pytest.mark.parametrize("number", [60, 90, 120])
def test_store_that_fails_ends_the_run_with_a_sentence(
    s3, faulty_s3, setup, tmp_path, monkeypatch, run_command, number
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    line = ("train", setup / "recipe.yaml", "--set", "embeddings={}")
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

    pretrain({name: config[name] for name in ("recipe", "text", "vectors", "folder")}, advance)


def test_killed_processes_with_disks_of_their_own_resume_to_the_bit(s3: str, tmp_path: Path):
    config = config_of(tmp_path / "disk", write_tiny_text(tmp_path / "text"), loop=STEPS)
    for name in storage.list_files(config["text"]):
        storage.write_bytes(f"{s3}/text/{name}", (tmp_path / "text" / name).read_bytes())
    stored = {**config, "text": f"{s3}/text", "folder": f"{s3}/run", "caches": str(tmp_path)}
    on_two(pretrain, config)
    with pytest.raises(ProcessException):
        on_two(train_on_own_disk, {**stored, "dies_at": 70})
    assert checkpoint_names(f"{s3}/run") == ["00000040", "00000060"]
    on_two(train_on_own_disk, stored)
    check_equal(f"{s3}/run", tmp_path / "disk")
    for rank in "01":
        assert list((tmp_path / rank / "bitcipher" / "runs").iterdir()) == []


@pytest.fixture
def cluster(tmp_path: Path, s3_server: str) -> Iterator[str]:
    """Address for jobs of a cluster of a head and two nodes of one CPU, each with its own folders."""
    from ray.cluster_utils import Cluster

    with ExitStack() as stack:

        def arguments(name: str) -> dict:
            # A path of Ray's sockets can have 107 characters. Jobs run in folders below `temp_dir`.
            folder = stack.enter_context(TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True))
            cache = {"XDG_CACHE_HOME": str(tmp_path / name)}
            variables = {**ENVIRONMENT, **THREADS, "AWS_ENDPOINT_URL": s3_server, **cache}
            return {"temp_dir": folder, "env_vars": variables, "dashboard_agent_listen_port": None}

        head = {"num_cpus": 0, "include_dashboard": True, "dashboard_port": 0, **arguments("head")}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        stack.callback(cluster.shutdown)
        for name in ("node-1", "node-2"):
            cluster.add_node(num_cpus=1, **arguments(name))
        yield f"http://{cluster.head_node.webui_url}"


# slow: after test_training_faults.py in the same process, Ray cannot set up the workers of the job ("Failed to set up
# runtime environment").
@pytest.mark.slow
@pytest.mark.ray
def test_submitted_run_on_two_nodes_resumes_to_the_bit(s3: str, setup: Path, cluster: str, tmp_path: Path):
    def submit(out: object, name: str) -> Command:
        line = ("submit", "--address", cluster, "--working-dir", setup, "--")
        arguments = ("train", "recipe.yaml", "--out", out, "--workers", 2)
        return Command(*line, *arguments, log=tmp_path / f"{name}.log", **THREADS)

    disk = submit(tmp_path / "disk", "disk")
    assert disk.wait() == 0, disk.error_output()
    killed = submit(f"{s3}/run", "killed")
    wait_for_checkpoint(f"{s3}/run", killed)
    os.kill(driver_of(f"{s3}/run"), signal.SIGKILL)
    assert killed.wait() == 137
    resumed = submit(f"{s3}/run", "resumed")
    assert resumed.wait() == 0, resumed.error_output()
    check_equal(f"{s3}/run", tmp_path / "disk")
    for node in ("node-1", "node-2"):
        copies = tmp_path / node / "bitcipher" / "token-shards"
        assert len([path for path in copies.iterdir() if path.is_dir()]) == 1  # copied once by each node
    assert not [name for name in storage.list_files(f"{s3}/run") if name.startswith("ray-")]


def driver_of(uri: str) -> int:
    """Return the process that holds the lease of a run."""
    newest = max(storage.list_files(f"{uri}/{RUN_LEASE}"))
    return json.loads(storage.read_bytes(f"{uri}/{RUN_LEASE}/{newest}") or b"")["pid"]
