"""A small build with counts and n-grams to serve, and a client of an application that serves vectors."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from builds import run_build, write_lines
from made_vectors import small_text
from starlette.testclient import TestClient

from cluster.serve.app import make_app
from cluster.serve.search_queue import SearchQueue
from cluster.serve.served_version import ServedVersion, locate_vectors
from cluster.serve.server_metrics import ServerMetrics
from pipelines.options import BuildOptions

OPTIONS = BuildOptions(vector_size=20, window=2, tokenizer="whitespace", min_count=2, shard_mib=1, memory_mib=600)


def write_build(folder: Path) -> str:
    """Make a build of mode spectral in a folder; return its path. Its words are 210 of w0 to w299."""
    run_build([write_text(folder / "text.jsonl")], folder / "build", OPTIONS)
    return str(folder / "build")


def write_text(path: Path, documents: int = 60) -> Path:
    """Write text for a build or an update. Another number of documents gives other text."""
    return write_lines(path, [" ".join(document) for document in small_text(documents)])


def make_client(uri: str, queue: SearchQueue) -> TestClient:
    """Return a client of an application that serves a build or vectors."""
    served = ServedVersion(uri, locate_vectors(uri), queue)
    return TestClient(make_app(lambda: served, ServerMetrics()), raise_server_exceptions=False)


@contextmanager
def running(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a server on a free port; yield the process and the port."""
    command = [sys.executable, "-m", "cluster.cli.main", "serve", *map(str, arguments), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        port = re.search(r"http://127\.0\.0\.1:(\d+)\. ", line)
        assert port, line + process.stderr.read()
        yield process, int(port[1])
    finally:
        process.kill()
        process.communicate()
