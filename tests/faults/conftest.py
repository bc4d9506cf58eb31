"""Fixtures of the fault tests: sources that take time to count, builds, a Ray cluster, and printed measurements."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from long_files import LongFiles
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
def long_files(tmp_path_factory: pytest.TempPathFactory) -> LongFiles:
    """Files that take time to count."""
    return LongFiles(tmp_path_factory.mktemp("long"))


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
