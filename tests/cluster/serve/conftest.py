"""A build, a queue of searches, and a client of an application that serves the build."""

from collections.abc import Iterator

import pytest
import served_builds
from starlette.testclient import TestClient

from cluster.serve.search_queue import SearchQueue


@pytest.fixture(scope="session")
def served_build(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of a build, which no test may change."""
    return served_builds.write_build(tmp_path_factory.mktemp("served"))


@pytest.fixture
def queue() -> Iterator[SearchQueue]:
    """Queue of searches, which ends with the test."""
    queue = SearchQueue()
    yield queue
    queue.close()


@pytest.fixture
def client(served_build: str, queue: SearchQueue) -> TestClient:
    """Client of an application that serves the build."""
    return served_builds.make_client(served_build, queue)
