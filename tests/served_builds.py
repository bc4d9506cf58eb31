"""A small build with counts and n-grams to serve, and servers and clients of it."""

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from builds import run_build, write_lines
from made_vectors import small_text
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from cluster.serve.access import ANY_REQUEST, AccessRules
from cluster.serve.app import make_app
from cluster.serve.connections import ConnectionServer
from cluster.serve.search_queue import SearchQueue
from cluster.serve.served_version import ServedVersion, locate_vectors
from cluster.serve.server import listen, server_config
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


def make_client(uri: str, queue: SearchQueue, access: AccessRules = ANY_REQUEST) -> TestClient:
    """Return a client of an application that serves a build or vectors."""
    served = ServedVersion(uri, locate_vectors(uri), queue)
    app = make_app(lambda: served, ServerMetrics(), access)
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


@contextmanager
def serving(app: ASGIApp, limit: int = 100) -> Iterator[int]:
    """Serve an application in a thread, with a maximum number of connections; yield the port."""
    with listen("127.0.0.1", 0) as listener:
        server = ConnectionServer(server_config(app), limit)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


def send(port: int, *parts: bytes) -> socket.socket:
    """Return a connection to a server of this machine that has sent some bytes."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    for part in parts:
        connection.sendall(part)
    return connection


def read_all(connection: socket.socket) -> bytes:
    """Return what a server sends until it closes the connection."""
    with connection:
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


@contextmanager
def running(
    *arguments: object, before: Callable[[], None] | None = None
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a server on a free port, and call a function in its process before; yield the process and the port."""
    command = [sys.executable, "-m", "cluster.cli.main", "serve", *map(str, arguments), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=before)
    try:
        line = process.stdout.readline()
        port = re.search(r"http://[\d.]+:(\d+)\. ", line)
        assert port, line + process.stderr.read()
        yield process, int(port[1])
    finally:
        process.kill()
        process.communicate()
