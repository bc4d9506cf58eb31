"""Fixtures of the fault tests: sources that take time to count, builds, a Ray cluster, and printed measurements."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from builds import write_lines
from ray_nodes import RayNodes
from target_jobs import write_originals


@pytest.fixture
def print_measurement(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Return a function that prints a measurement for README.md."""

    def print_line(measurement: str) -> None:
        with capsys.disabled():
            print(f"\n{request.node.name}: {measurement}")

    return print_line


@pytest.fixture(scope="session")
def long_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Sixty files of about 1 MB. Each is one count task, which takes spaCy's rules a third of a second."""
    random = np.random.default_rng(5)
    words = np.array(["the", "of", "don't", "U.S.", "casa", "Straße", *(f"w{i}" for i in range(20_000))])
    folder = tmp_path_factory.mktemp("long")
    files = []
    for number in range(60):
        documents, size = [], 0
        while size < 1_050_000:
            ranks = np.minimum(random.zipf(1.3, random.integers(40, 1_600)), len(words)) - 1
            documents.append(" ".join(words[ranks]))
            size += len(documents[-1])
        files.append(write_lines(folder / f"{number:02d}.jsonl", documents))
    return files


@pytest.fixture
def nodes() -> Iterator[RayNodes]:
    """Ray cluster of a head and four nodes with one CPU each."""
    with RayNodes(4) as nodes:
        yield nodes


@pytest.fixture(scope="session")
def target_originals(documents: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four sources, a build of one version, and a build of two versions."""
    folder = tmp_path_factory.mktemp("originals")
    write_originals(folder, documents)
    return folder


@pytest.fixture
def job_folder(target_originals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working directory with a copy of the sources and builds. Leases of dead jobs expire soon."""
    folder = shutil.copytree(target_originals, tmp_path / "folder")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("pipelines.store.lease.HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr("pipelines.store.lease.EXPIRY_SECONDS", 1.0)
    return folder
