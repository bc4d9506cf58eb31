"""The server: its socket, its signals, and the event loop of uvicorn."""

import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import uvicorn
from starlette.types import ASGIApp
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError
from bitcipher.terminal import print_text
from cluster.serve.app import make_app
from cluster.serve.search_queue import SearchQueue
from cluster.serve.served_version import ServedVersion
from cluster.serve.server_metrics import ServerMetrics
from cluster.serve.version_watcher import VersionWatcher

# Connections that the system holds until the server accepts them, such as those while the vectors are loaded.
BACKLOG = 2048

# Seconds after which requests in progress are given up when the server ends.
GRACE_SECONDS = 30

# Seconds after which a thread must let others run. With Python's 5 ms, the thread that loads a version slows requests.
SWITCH_SECONDS = 0.0005


def serve(uri: str, version: int | None, host: str, port: int, check_seconds: float) -> None:
    """Serve vectors until Ctrl-C or SIGTERM. Requests in progress are answered first.

    Args:
        uri: a build, or a folder or file of vectors.
        version: version of the build; by default the newest one, and then those that are published.
        host: name or address to listen on.
        port: port to listen on; 0 for a free one.
        check_seconds: seconds between looks for a new version.

    Raises:
        BitcipherError: if the address cannot be used, or there are no such vectors.
    """
    metrics = ServerMetrics()
    with (
        threadpool_limits(1),  # searches have threads of their own
        listen(host, port) as listener,
        closing(SearchQueue()) as queue,
        closing(VersionWatcher(uri, version, check_seconds, queue, metrics)) as watcher,
    ):
        # No variable of this function may keep the first version.
        print_text(f"Serving {_describe(watcher.current)} at {address_of(listener)}. Ctrl-C ends it.")
        answer_requests(make_app(lambda: watcher.current, metrics), listener)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        BitcipherError: if the address is not one of this machine, or the port is taken or not allowed.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]  # Python adds the address
        raise BitcipherError(
            f"Cannot listen on {host}, port {port} ({reason}): choose another address by --host, or another port by "
            "--port."
        ) from None
    # Connections inherit it. asyncio does not set it for this kind of socket, and answers, which are sent in two parts,
    # would wait 40 ms for an acknowledgment.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _describe(served: ServedVersion) -> str:
    name = "the vectors" if served.location.version is None else f"version {served.location.version}"
    return f"{name} ({len(served.vectors):,} words, {served.vectors.vector_size} dimensions)"


def address_of(listener: socket.socket) -> str:
    """Return the address of a socket that listens as a URL."""
    host, port, *_ = listener.getsockname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def answer_requests(app: ASGIApp, listener: socket.socket) -> None:
    """Answer requests by an application until Ctrl-C or SIGTERM."""
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = uvicorn.Server(config)
    sys.setswitchinterval(SWITCH_SECONDS)
    with _ending_on_signals(server):
        server.run(sockets=[listener])


@contextmanager
def _ending_on_signals(server: uvicorn.Server) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the server, and nothing else.

    uvicorn handles both while it runs. At its end, it raises the signal again, which must not end the command by a
    KeyboardInterrupt, because the server has succeeded.
    """

    def end(number: int, frame: object) -> None:
        server.should_exit = True

    previous = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
