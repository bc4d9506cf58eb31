"""Servers that send a byte now and then, or headers without an end: each is cut, and counts as an attempt."""

import re
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress

import fsspec.config
import pytest

from bitcipher.errors import BitcipherError
from bitcipher.files import http_connection, http_files, storage
from bitcipher.files.receive_limits import RateLimit, read_rate_limit

# Seconds after which a server that drips closes the connection, so that the tests end without limits, too.
PATIENCE = 2
CONTENT = bytes(range(256)) * 1000
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
PLAIN = b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\nETag: "1"\r\n\r\n' % len(CONTENT)
TLS_RECORD = b"\x16\x03\x03\x40\x00"  # the beginning of a record of 16 KiB


class RawServer:
    """Server that sends given bytes: first `start` at once, then `drip` again and again.

    Args:
        start: function that returns the first bytes of a response to a request.
        drip: what follows, again and again.
        pause: seconds after each.
        times: how often it follows.
    """

    def __init__(self, start, drip=b"", pause=0.01, times=1 << 30):
        self._start, self._drip, self._pause, self._times = start, drip, pause, times
        self.connections = 0

    def __enter__(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.close()

    def _serve(self):
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self.connections += 1
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        ended = time.monotonic() + PATIENCE
        with connection, suppress(OSError):
            connection.sendall(self._start(connection.recv(1 << 16).decode(errors="replace")))
            for _ in range(self._times if self._drip else 0):
                connection.sendall(self._drip)
                time.sleep(self._pause)
                if time.monotonic() > ended:
                    break


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    monkeypatch.setattr(http_files, "FIRST_WAIT_SECONDS", 0.001)
    monkeypatch.setitem(fsspec.config.conf, "http", {"min_bytes_per_second": "1000", "slow_seconds": "0.1"})


def read(port, protocol="http"):
    with storage.reading(f"{protocol}://127.0.0.1:{port}/a.bin") as stream:
        return stream.read()


SLOW = r"sent less than 1000 bytes per second for 0\.1 seconds \(in 5 attempts\)"
ENDLESS = r"sends more headers or trailers than are allowed \(in 5 attempts\)"
# First bytes, what follows, seconds before each, and the end of the message.
CASES = {
    "status line": (b"HTTP/1.1 ", b"2", 0.01, SLOW),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.05, SLOW),
    "100 Continue, fast": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, 0, ENDLESS),
    "100 Continue, headers": (b"HTTP/1.1 100 Continue\r\n", b"a: b\r\n", 0.01, SLOW),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"a", 0.01, SLOW),
    "body": (PLAIN, b"a", 0.01, SLOW),
    "sizes of chunks": (CHUNKED, b"0", 0.01, SLOW),
    "chunks": (CHUNKED, b"1\r\na\r\n", 0.01, SLOW),
    "extensions of chunks, fast": (CHUNKED, b"1;" + b"a" * 60_000 + b"\r\na\r\n", 0, ENDLESS),
    "trailers": (CHUNKED + b"1\r\na\r\n0\r\n", b"a: b\r\n", 0.01, SLOW),
    "trailers, fast": (CHUNKED + b"1\r\na\r\n0\r\n", b"a: b\r\n" * 1000, 0, ENDLESS),
}


@pytest.mark.parametrize("name", CASES)
def test_server_is_cut(name):
    start, drip, pause, message = CASES[name]
    with RawServer(lambda _: start, drip, pause) as server:
        with pytest.raises(BitcipherError, match=message):
            read(server.port)
        assert server.connections == http_files.ATTEMPTS


def test_tls_handshake_has_a_time_limit(monkeypatch):
    monkeypatch.setattr(http_connection, "CONNECT_SECONDS", 0.1)
    with RawServer(lambda _: TLS_RECORD, b"a", 0.01) as server:
        with pytest.raises(BitcipherError, match=r"handshake.* timed out \(in 5 attempts\)"):
            read(server.port, "https")
        assert server.connections == http_files.ATTEMPTS


def test_few_bytes_per_connection_are_no_progress():
    def answer(request):
        start = int(match[1]) if (match := re.search(r"Range: bytes=(\d+)-", request)) else 0
        body = CONTENT[start : max(start, 1) + http_files.OVERLAP_BYTES + 20]
        head = PLAIN.replace(b"200 OK", b"206 Partial Content") if start else PLAIN
        position = b"Content-Range: bytes %d-%d/%d\r\n\r\n" % (start, len(CONTENT) - 1, len(CONTENT))
        return (head[:-2] + position if start else head) + body

    fsspec.config.conf["http"]["min_bytes_per_second"] = "1e12"
    with RawServer(answer) as server, storage.reading(f"http://127.0.0.1:{server.port}/a.bin") as stream:
        with pytest.raises(BitcipherError, match="in 5 attempts"):
            deque(iter(lambda: stream.read(10), b""), maxlen=0)
        assert server.connections == http_files.ATTEMPTS


def test_reader_that_pauses_is_not_cut():
    with RawServer(lambda _: PLAIN + CONTENT) as server:
        with storage.reading(f"http://127.0.0.1:{server.port}/a.bin") as stream:
            content = stream.read(10)
            for size in (1, 20_000, len(CONTENT)):
                time.sleep(0.2)
                content += stream.read(size)
        assert content == CONTENT
        assert server.connections == 1


def test_rate_can_be_turned_off():
    fsspec.config.conf["http"]["min_bytes_per_second"] = 0
    with RawServer(lambda _: PLAIN.replace(b"%d" % len(CONTENT), b"20"), b"a", 0.02, times=20) as server:
        assert read(server.port) == b"a" * 20


@pytest.mark.parametrize(
    ("name", "value"),
    [("min_bytes_per_second", "fast"), ("min_bytes_per_second", "-1"), ("slow_seconds", "0"), ("slow_seconds", "nan")],
)
def test_wrong_options(name, value):
    fsspec.config.conf["http"][name] = value
    with pytest.raises(BitcipherError, match=rf"`{name}` .*FSSPEC_HTTP_{name.upper()}\) must be a number .*'{value}'"):
        read(9)


def test_variables_of_the_environment(monkeypatch):
    monkeypatch.setenv("FSSPEC_HTTP_MIN_BYTES_PER_SECOND", "50")
    monkeypatch.setenv("FSSPEC_HTTP_SLOW_SECONDS", "7.5")
    code = "from bitcipher.files.receive_limits import read_rate_limit; print(*read_rate_limit())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "50.0 7.5\n"
    monkeypatch.delitem(fsspec.config.conf, "http")
    assert read_rate_limit() == RateLimit(1000, 300)
