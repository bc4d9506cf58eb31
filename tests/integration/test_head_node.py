"""Workflow on a new machine: `ray start --head`, then builds and updates as jobs of `bitcipher submit`."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from builds import FRESH, digests, run_build

from cluster.demo.demo import OPTIONS
from cluster.demo.docstrings import write_docstrings
from pipelines.runtime.progress import StageProgress

START_SECONDS = 120


@pytest.fixture(scope="module")
def head() -> Iterator[dict[str, str]]:
    """Environment of jobs for a head node that requires a token and runs next to the cluster of the tests."""
    ports = _free_ports(6)
    names = ("port", "dashboard-port", "dashboard-agent-listen-port", "ray-client-server-port")
    options = [f"--{name}={port}" for name, port in zip(names, ports, strict=False)]
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_API_SERVER_ADDRESS": f"http://127.0.0.1:{ports[1]}",
    }
    ray = Path(sys.executable).with_name("ray")
    command = [ray, "start", "--head", "--block", "--num-cpus=2", "--dashboard-host=127.0.0.1", *options]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        _wait_for_jobs(environment)
        yield environment
    finally:
        # Kill the daemons together with the head; a graceful stop waits half a minute for them.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpus of the demo, from one package, in two files."""
    folder = tmp_path_factory.mktemp("docstrings")
    root = Path(np.__file__).parent
    write_docstrings([root / "linalg", root / "random"], str(folder / "a.jsonl.gz"), StageProgress())
    write_docstrings([root / "lib"], str(folder / "b.jsonl.gz"), StageProgress())
    return folder


@pytest.mark.slow
@pytest.mark.ray
def test_build_and_update_as_jobs_of_a_head_node(head, corpus, tmp_path):
    built = _submit(
        head, "build", corpus / "a.jsonl.gz", "--out", tmp_path / "build", "--min-count", 20, "--workers", 2
    )
    assert "version 1" in built
    updated = _submit(head, "update", tmp_path / "build", corpus, *FRESH, "--workers", 2)
    assert "1 new file, 1 unchanged" in updated
    run_build([corpus], tmp_path / "whole", OPTIONS)
    assert digests(tmp_path / "build") == digests(tmp_path / "whole")


def _submit(environment: dict[str, str], *command: object) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "cluster.cli.main", "submit", "--", *map(str, command)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def _wait_for_jobs(environment: dict[str, str]) -> None:
    """Wait until the dashboard accepts jobs, which is seconds after it responds."""
    url = f"{environment['RAY_API_SERVER_ADDRESS']}/api/jobs/"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {environment['RAY_AUTH_TOKEN']}"})
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10):
                return
        except (urllib.error.URLError, OSError):
            assert time.monotonic() < end, "the head node did not start"
            time.sleep(0.5)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
