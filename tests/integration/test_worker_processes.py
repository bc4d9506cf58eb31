"""Commands with workers on a Ray cluster of their own: packages of the user, output, and SIGTERM."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bitcipher.versions import versions

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.long, pytest.mark.ray]


def start(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-P", "-m", "bitcipher", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **pipes, text=True, cwd=cwd, env=environment)


def test_workers_import_the_packages_of_the_driver_and_ray_prints_nothing(tmp_path):
    for name in ("pipelines", "training", "cluster", "bitcipher"):
        (tmp_path / f"{name}.py").write_text('raise ImportError("code of the user")\n')
    (tmp_path / "a.txt").write_text("a b c d\nb c d a\n" * 20)
    options = ("--tokenizer", "whitespace", "--mode", "cat", "--min-count", 1, "--memory-mib", 600)
    process = start("build", "a.txt", "--out", "out", *options, "--workers", 1, "--quiet", cwd=tmp_path)
    printed = process.communicate(timeout=120)
    assert (process.returncode, *printed) == (0, "", "")
    assert versions(str(tmp_path / "out")) == [1]


def test_sigterm_with_workers_ends_with_143_and_the_build_resumes(documents, tmp_path, monkeypatch, run_command):
    words = " ".join(documents).split()[:100_000]
    # Distinct words keep spaCy busy long enough for the signal to interrupt it.
    (tmp_path / "long.txt").write_text("\n".join(f"{word}{i}," for i, word in enumerate(words)))
    command = ("build", "long.txt", "--out", "out", "--shard-mib", 1, "--memory-mib", 600)
    process = start(*command, "--workers", 2, cwd=tmp_path)
    while not list(tmp_path.glob("out/ledger/jobs/*/shard/*/*.json")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, printed
    assert "run the same command again" in printed
    assert "SIGTERM received" not in printed  # of Ray's stack trace
    assert versions(str(tmp_path / "out")) == []
    monkeypatch.chdir(tmp_path)
    assert run_command(*command).code == 0
    assert not [path for path in (tmp_path / "out").rglob("*") if path.name.endswith((".unfinished", ".tmp"))]
