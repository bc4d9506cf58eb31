"""Commands with workers on a Ray cluster of their own: packages of the user, and SIGTERM."""

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
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=cwd, env=environment)


def test_workers_import_the_packages_of_the_driver(tmp_path):
    for name in ("pipelines", "training", "cluster", "bitcipher"):
        (tmp_path / f"{name}.py").write_text('raise ImportError("code of the user")\n')
    (tmp_path / "a.txt").write_text("a b c d\nb c d a\n" * 20)
    options = ("--tokenizer", "whitespace", "--mode", "cat", "--min-count", 1, "--memory-mib", 600)
    process = start("build", "a.txt", "--out", "out", *options, "--workers", 1, cwd=tmp_path)
    _, printed = process.communicate(timeout=120)
    assert process.returncode == 0, printed
    assert versions(str(tmp_path / "out")) == [1]


def test_sigterm_with_workers_ends_with_143_and_the_build_resumes(documents, tmp_path):
    words = " ".join(documents).split()[:150_000]
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
    assert start(*command, cwd=tmp_path).wait(120) == 0
    assert not [path for path in (tmp_path / "out").rglob("*") if path.name.endswith((".unfinished", ".tmp"))]
