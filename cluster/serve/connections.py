"""Connections of the server: their number, and the time that clients may take."""

import asyncio
import random
import resource
import socket
from collections.abc import Collection
from http import HTTPStatus
from time import monotonic
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from bitcipher.terminal import print_text
from cluster.serve.error_answers import error_content
from cluster.serve.request_pool import IS_REFUSED

# Seconds in which the head of a request must arrive, and in which the rest of a refused body is read.
HEAD_SECONDS = 10.0

# Seconds in which a client must take 48 KiB of an answer.
SEND_SECONDS = 30.0

# Seconds that clients have to complete what they send and to take what they get when the server ends.
END_SECONDS = 2.0

# Seconds after which a connection is read again whose request was refused because there were too many. Clients that try
# again at once, against the header Retry-After, would otherwise keep the server busy with refusals.
REFUSED_SECONDS = 0.5

# Seconds after which a connection without a request is closed when there is no room for others.
IDLE_SECONDS = 1.0

# Descriptors that are kept free for the vectors, for versions that are loaded, and for the counts.
RESERVED_FILES = 48

# Each connection can take 70 kB, and 1 MiB while a body arrives.
MAX_CONNECTIONS = 8192

# Seconds between looks for room.
PAUSE_SECONDS = 0.05


def max_connections() -> int:
    """Return the maximum number of connections, which leaves some descriptors of the process for files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = MAX_CONNECTIONS if limit == resource.RLIM_INFINITY else limit
    return max(8, min(files - RESERVED_FILES, MAX_CONNECTIONS))


class Connection(H11Protocol):
    """Connection whose client must send and receive in time."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._abort_timer: asyncio.TimerHandle | None = None
        self._idle_since = monotonic()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request."""
        super().connection_made(cast(asyncio.Transport, transport))
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End all waiting."""
        self._set_head_timer(None)
        self._set_abort_timer(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what the client sends."""
        super().data_received(data)
        self._watch_head()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, or go on with one that has arrived."""
        super().on_response_complete()
        self._idle_since = monotonic()
        if self.scope.get("state", {}).get(IS_REFUSED) and not self.has_request():
            self.flow.pause_reading()
            # Clients that were refused together shall not come back together.
            self.loop.call_later(random.uniform(0.5, 1.5) * REFUSED_SECONDS, self.flow.resume_reading)
        if self.transport.is_closing():
            self._set_abort_timer(SEND_SECONDS)
        elif self._has_part_of_head():
            self._watch_head()

    def pause_writing(self) -> None:
        """Begin to wait for a client that takes its answer slowly."""
        super().pause_writing()
        self._set_abort_timer(SEND_SECONDS)

    def resume_writing(self) -> None:
        """End this wait."""
        super().resume_writing()
        self._set_abort_timer(SEND_SECONDS if self.transport.is_closing() else None)

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection without a further request."""
        self.close()

    def shutdown(self) -> None:
        """Let the request in progress end, if its client soon completes it."""
        super().shutdown()
        self.loop.call_later(END_SECONDS, self._abort_if_slow)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP."""
        self._refuse(
            HTTPStatus.BAD_REQUEST,
            "The request is not valid HTTP: write other characters than ASCII in an address as %XX.",
        )

    def has_request(self) -> bool:
        """Return whether a request is in progress."""
        return self.cycle is not None and not self.cycle.response_complete

    def is_idle(self, seconds: float) -> bool:
        """Return whether the head of a request has been awaited for some seconds."""
        return not self.has_request() and monotonic() - self._idle_since > seconds

    def close(self) -> None:
        """Close the connection, even if its client takes nothing more."""
        self.transport.close()
        self._set_abort_timer(END_SECONDS)

    def _watch_head(self) -> None:
        """Limit the time until the head of a request is complete, from its first byte or that of the connection."""
        if self.has_request():
            self._set_head_timer(None)
        elif self.cycle is not None and self.conn.their_state is h11.IDLE and not self._has_part_of_head():
            # The rest of a refused body has ended, so the connection waits as after any other answer.
            self._set_head_timer(None)
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        elif self._head_timer is None:
            self._set_head_timer(HEAD_SECONDS)

    def _set_head_timer(self, seconds: float | None) -> None:
        if self._head_timer:
            self._head_timer.cancel()
        self._head_timer = None if seconds is None else self.loop.call_later(seconds, self._end_late_head)

    def _set_abort_timer(self, seconds: float | None) -> None:
        if self._abort_timer:
            self._abort_timer.cancel()
        self._abort_timer = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)

    def _end_late_head(self) -> None:
        if self._has_part_of_head():  # else there is no request that an answer could belong to
            sentence = f"The request did not arrive in {HEAD_SECONDS:.0f} seconds: send it again."
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, sentence)
        self.close()

    def _has_part_of_head(self) -> bool:
        return self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        content = error_content(sentence)
        head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: application/json\r\nConnection: close\r\n"
        self.transport.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        self.close()

    def _abort_if_slow(self) -> None:
        if (self.has_request() and self.cycle.more_body) or self.flow.write_paused:
            self.transport.abort()


class ConnectionServer(uvicorn.Server):
    """Server that accepts connections only while there is room for them. Others wait in the queue of the system.

    With uvicorn's way to accept connections, asyncio tries thousands of times per second when there are no
    descriptors left, and prints each failure.

    Args:
        config: settings of uvicorn.
        limit: maximum number of connections.
    """

    def __init__(self, config: uvicorn.Config, limit: int):
        super().__init__(config)
        self._limit = limit
        self._has_warned = False

    @property
    def connections(self) -> Collection[Any]:
        """Connections that are open."""
        return self.server_state.connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections at one socket."""
        (listener,) = sockets or []
        listener.setblocking(False)
        await self.lifespan.startup()
        self.servers = []
        self._accepting = asyncio.create_task(self._accept_all(listener))
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End after the requests in progress."""
        self._accepting.cancel()
        await super().shutdown(sockets)

    async def _accept_all(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wait_for_room()
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError:  # no descriptors are left, or the client has gone
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            try:
                await loop.connect_accepted_socket(self._make_connection, accepted)
            except OSError:
                accepted.close()

    async def _wait_for_room(self) -> None:
        connections: Any = self.connections
        if len(connections) < self._limit:
            return
        if not self._has_warned:
            self._has_warned = True
            print_text(
                f"bitcipher: {self._limit:,} connections are open, and others wait: allow more open files "
                "(`ulimit -n`) if these are not enough.",
                err=True,
            )
        while len(connections) >= self._limit:
            for each in [each for each in connections if each.is_idle(IDLE_SECONDS)]:
                each.close()
            await asyncio.sleep(PAUSE_SECONDS)

    def _make_connection(self) -> Connection:
        return Connection(self.config, self.server_state, self.lifespan.state)
