"""The server: its socket, its signals, and the event loop of uvicorn."""

import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError
from bitcipher.terminal import print_text
from cluster.serve.access import AccessRules, allowed_hosts, check_header, is_loopback, read_token
from cluster.serve.app import make_app
from cluster.serve.connections import ConnectionServer, max_connections
from cluster.serve.search_queue import SearchQueue
from cluster.serve.served_version import ServedVersion
from cluster.serve.server_metrics import ServerMetrics
from cluster.serve.version_watcher import VersionWatcher

# Connections that the system holds until the server accepts them, such as those while the vectors are loaded.
BACKLOG = 2048

# Seconds after which requests in progress are given up when the server ends.
GRACE_SECONDS = 25

# Seconds after which a connection without a further request is closed. Proxies and load balancers keep theirs for a
# minute; a request that met the end of its connection would fail.
KEEP_ALIVE_SECONDS = 75

# Seconds after which a thread must let others run. With Python's 5 ms, the thread that loads a version slows requests.
SWITCH_SECONDS = 0.0005


class ServerOptions(NamedTuple):
    """Options of `bitcipher serve`, with its names and defaults."""

    vectors: str
    """A build, or a folder or file of vectors."""
    version: int | None
    """Version of the build; by default the newest one, and then those that are published."""
    host: str
    """Name or address to listen on."""
    port: int
    """Port to listen on; 0 for a free one."""
    check_seconds: float
    """Seconds between looks for a new version."""
    allowed_host: list[str]
    """Names that the header `Host` may have, besides those of a loopback address."""
    token_file: str | None
    """File with the token that requests must have."""
    requests_per_client: int | None
    """Maximum number of requests in progress per client."""
    client_header: str | None
    """Header by which a trusted proxy names the client."""
    explain_index: str | None
    """Local folder for an index of explanations of each version."""


def serve(options: ServerOptions) -> None:
    """Serve vectors until Ctrl-C or SIGTERM. Requests in progress are answered first.

    Raises:
        BitcipherError: if the address or the token cannot be used, or there are no such vectors.
    """
    if options.client_header and not options.requests_per_client:
        raise BitcipherError("`--client-header` has no effect without `--requests-per-client`: give both.")
    client_header = check_header(options.client_header) if options.client_header else None
    token = read_token(options.token_file) if options.token_file else None
    metrics = ServerMetrics()
    watched = options.vectors, options.version, options.check_seconds
    with (
        threadpool_limits(1),  # searches have threads of their own
        listen(options.host, options.port) as listener,
        closing(SearchQueue()) as queue,
        closing(VersionWatcher(*watched, queue, metrics, options.explain_index)) as watcher,
    ):
        address = str(listener.getsockname()[0])
        hosts = allowed_hosts(options.host, address, options.allowed_host)
        access = AccessRules(hosts, token, options.requests_per_client, client_header)
        if token is None and not is_loopback(address):
            print_text(
                f"bitcipher: everyone who can reach {address_of(listener)} can ask this server, because there is no "
                "authentication: give `--token-file`, or put a proxy with access control before it.",
                err=True,
            )
        # No variable of this function may keep the first version.
        print_text(f"Serving {_describe(watcher.current)} at {address_of(listener)}. Ctrl-C ends it.")
        answer_requests(make_app(lambda: watcher.current, metrics, access), listener, metrics)


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


def server_config(app: ASGIApp) -> uvicorn.Config:
    """Return the settings of uvicorn for an application."""
    return uvicorn.Config(
        app,
        ws="none",
        log_config=None,
        log_level="error",  # clients could fill the log with warnings
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def answer_requests(app: ASGIApp, listener: socket.socket, metrics: ServerMetrics) -> None:
    """Answer requests by an application until Ctrl-C or SIGTERM."""
    server = ConnectionServer(server_config(app), max_connections())
    metrics.connections.set_function(lambda: len(server.connections))
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
