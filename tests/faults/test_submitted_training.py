"""Training commands that are submitted to a cluster of two nodes, which share nothing but an S3 server."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import tiny_study
import tiny_tasks
from commands import Command
from object_store import ENVIRONMENT
from stored_runs import THREADS, check_equal, driver_of, wait_for_checkpoint, write_recipe

from bitcipher.files import storage
from bitcipher.files.file_digests import digest_file
from training.loop.file_names import METRICS
from training.loop.run_store import copying_run

pytestmark = [pytest.mark.long, pytest.mark.ray]

Submit = Callable[..., Command]


@pytest.fixture(scope="module")
def cluster(s3_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address for jobs of a cluster of a head and two nodes of one CPU, and the folder of the nodes' own folders."""
    from ray.cluster_utils import Cluster

    nodes = tmp_path_factory.mktemp("nodes")
    with ExitStack() as stack:

        def arguments(name: str) -> dict:
            # A path of Ray's sockets can have 107 characters. Jobs run in folders below `temp_dir`.
            folder = stack.enter_context(TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True))
            cache = {"XDG_CACHE_HOME": str(nodes / name)}
            variables = {**ENVIRONMENT, **THREADS, "AWS_ENDPOINT_URL": s3_server, **cache}
            return {"temp_dir": folder, "env_vars": variables, "dashboard_agent_listen_port": None}

        head = {"num_cpus": 0, "include_dashboard": True, "dashboard_port": 0, **arguments("head")}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        stack.callback(cluster.shutdown)
        for name in ("node-1", "node-2"):
            cluster.add_node(num_cpus=1, **arguments(name))
        yield f"http://{cluster.head_node.webui_url}", nodes


@pytest.fixture
def submit(cluster: tuple[str, Path], tmp_path: Path) -> Submit:
    """Function that submits a command line. The job starts in a copy of the folder `setup`."""

    def submit(*line: object) -> Command:
        log = tmp_path / f"job-{len(list(tmp_path.glob('job-*')))}.log"
        address = ("submit", "--address", cluster[0], "--working-dir", tmp_path / "setup")
        return Command(*address, "--", *line, log=log, **THREADS)

    return submit


# A job starts four processes per worker, each of which imports torch.
JOB_SECONDS = 900


def run(command: Command) -> None:
    assert command.process.wait(JOB_SECONDS) == 0, command.error_output()


def upload(folder: Path, uri: str) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            storage.write_bytes(f"{uri}/{path.relative_to(folder)}", path.read_bytes())


def check_killed_run(start: Callable[[object], Command], uri: str, disk: Path) -> None:
    """Run a job on a disk, and in a store with its driver killed after a checkpoint; both runs must be equal."""
    run(start(disk))
    killed = start(uri)
    wait_for_checkpoint(uri, killed)
    os.kill(driver_of(uri), signal.SIGKILL)
    assert killed.process.wait(JOB_SECONDS) == 137
    run(start(uri))
    check_equal(uri, disk)


@pytest.mark.slow  # after other tests with Ray in one process, Ray cannot set up the workers of the job
def test_killed_training_resumes_to_the_bit(s3: str, submit: Submit, cluster: tuple[str, Path], tmp_path: Path):
    write_recipe(tmp_path / "setup", s3)

    def train(out: object) -> Command:
        return submit("train", "recipe.yaml", "--out", out, "--workers", 2)

    check_killed_run(train, f"{s3}/run", tmp_path / "disk")
    for node in ("node-1", "node-2"):
        copies = cluster[1] / node / "bitcipher" / "token-shards"
        assert len([path for path in copies.iterdir() if path.is_dir()]) == 1  # copied once by each node
    assert not [name for name in storage.list_files(f"{s3}/run") if name.startswith("ray-")]


@pytest.mark.slow
def test_killed_finetuning_resumes_to_the_bit(s3: str, submit: Submit, tmp_path: Path):
    (tmp_path / "setup").mkdir()
    upload(tiny_tasks.write_model(tmp_path / "model"), f"{s3}/model")
    upload(tiny_tasks.write_task(tmp_path / "cola", "cola", 80), f"{s3}/cola")
    loop = {"max_steps": 120, "eval_steps": 20, "save_steps": 20, "save_total_limit": 2, "batch_size": 8}
    settings = [f"loop.{name}={value}" for name, value in loop.items()] + ["num_train_epochs=null", "loop.device=cpu"]

    def finetune(out: object) -> Command:
        line = ("finetune", f"{s3}/model", "--task", "cola", "--data", f"{s3}/cola", "--out", out, "--workers", 2)
        return submit(*line, *(argument for setting in settings for argument in ("--set", setting)))

    check_killed_run(finetune, f"{s3}/task", tmp_path / "disk")
    assert digest_file(f"{s3}/task/predictions.json") == digest_file(str(tmp_path / "disk" / "predictions.json"))


@pytest.mark.slow
def test_killed_study_resumes_with_the_same_findings(s3: str, submit: Submit, tmp_path: Path):
    setup = tiny_study.write(tmp_path / "setup")
    for name in ("corpus", "glue"):
        upload(setup / name, f"{s3}/{name}")
    paths = ("--set", f"sources=[{s3}/corpus/]", "--set", f"downstream.glue={s3}/glue")
    shapes = ("--set", f"shapes.names=[{tiny_study.SHAPES[0]}, {tiny_study.SHAPES[1]}]")

    def sweep(out: object) -> Command:
        return submit("sweep", "study.yaml", "--out", out, *paths, *shapes, "--max-concurrent-trials", 2)

    run(sweep(tmp_path / "disk"))
    killed = sweep(f"{s3}/study")
    while killed.is_running and not any(METRICS in name for name in storage.list_files(f"{s3}/study")):
        time.sleep(0.2)
    assert killed.is_running, killed.error_output()
    os.kill(driver_of(f"{s3}/study"), signal.SIGKILL)
    assert killed.process.wait(JOB_SECONDS) == 137
    run(sweep(f"{s3}/study"))
    findings = storage.read_bytes(f"{s3}/study/report/findings.json")
    assert json.loads(findings or b"") == json.loads((tmp_path / "disk" / "report" / "findings.json").read_text())
    model = f"models/{tiny_study.SHAPES[0]}"
    with copying_run(f"{s3}/study/{model}") as copy:
        assert (copy / METRICS).exists()
    assert not [name for name in storage.list_files(f"{s3}/study") if name.startswith("ray-")]
