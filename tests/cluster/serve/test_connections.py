"""Clients that send nothing, half a request, or without end, and that do not take their answers, harm no others."""

import http.client
import json
import resource
import signal
import socket
import time
from contextlib import suppress

import pytest
from served_builds import read_all, running, send, serving

from cluster.serve import connections, request_body
from cluster.serve.connections import max_connections
from cluster.serve.request_body import RequestBodies

HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /vectors HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


MUCH = 64 << 20


async def echo(scope, receive, send):
    """Application that answers with the number of bytes of a body."""
    body = await receive()
    content = json.dumps({"bytes": len(body["body"])}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(content))]})
    await send({"type": "http.response.body", "body": content})


async def answer_much(scope, receive, send):
    """Application with an answer that does not fit into the buffers of a socket."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * MUCH})


@pytest.fixture
def fast_limits(monkeypatch):
    """Let all time limits be short."""
    for module, name in (
        (connections, "HEAD_SECONDS"),
        (connections, "SEND_SECONDS"),
        (connections, "END_SECONDS"),
        (request_body, "BODY_SECONDS"),
    ):
        monkeypatch.setattr(module, name, 0.5)


def error_of(answer):
    """Return the status line and the sentence of an answer."""
    head, _, content = answer.partition(b"\r\n\r\n")
    return head.split(b"\r\n")[0].decode(), json.loads(content)["error"]


def drip(connection):
    for _ in range(200):
        connection.sendall(b"X")
        time.sleep(0.05)


def health(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/health")
    return connection.getresponse().status


def test_late_heads_and_bodies_are_refused(fast_limits):
    with serving(RequestBodies(echo)) as port:
        assert read_all(send(port)) == b""
        status, sentence = error_of(read_all(send(port, HEAD)))
        assert (status, "did not arrive in" in sentence) == ("HTTP/1.1 408 Request Timeout", True)
        # The time does not begin again with each byte.
        connection = send(port)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            drip(connection)
        status, sentence = error_of(read_all(send(port, POST, b"Content-Length: 9\r\nConnection: close\r\n\r\n{")))
        assert (status, "did not arrive in" in sentence) == ("HTTP/1.1 408 Request Timeout", True)
        # The second request of a connection has the same limit.
        answer = read_all(send(port, HEAD + b"\r\n" + HEAD))
        assert answer.startswith(b"HTTP/1.1 200 ")


def test_rest_of_a_refused_body_is_not_read_forever(fast_limits):
    with serving(RequestBodies(echo)) as port:
        connection = send(port, POST, b"Content-Length: 5000000\r\n\r\n")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            drip(connection)


def test_connection_is_kept_after_a_refused_body(fast_limits):
    def status():
        response = http.client.HTTPResponse(connection)
        response.begin()
        response.read()
        return response.status

    with serving(RequestBodies(echo)) as port, send(port, POST, b"Transfer-Encoding: chunked\r\n\r\n") as connection:
        assert status() == 411
        connection.sendall(b"1\r\n{\r\n0\r\n\r\n")
        time.sleep(1.5)
        connection.sendall(HEAD + b"\r\n")
        assert status() == 200


@pytest.mark.parametrize("close", [b"", b"Connection: close\r\n"])
def test_client_that_takes_no_answer_is_cut_off(fast_limits, close):
    with serving(answer_much) as port, send(port, HEAD + close + b"\r\n") as connection:
        time.sleep(4)
        received = 0
        with suppress(ConnectionResetError):
            while part := connection.recv(1 << 20):
                received += len(part)
        assert 0 < received < MUCH


def test_stalled_connections_take_no_place_of_others(fast_limits, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 60)
    with serving(RequestBodies(echo), limit=4) as port:
        stalled = [send(port, HEAD) for _ in range(20)]
        assert health(port) == 200
        for each in stalled:
            each.close()


def test_few_descriptors_give_no_traceback(served_build):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    with running(served_build, before=limit) as (process, port):
        opened = [send(port, HEAD) for _ in range(80)]
        assert health(port) == 200
        for each in opened:
            each.close()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err.count("\n")) == (0, "", 1)
        assert "others wait: allow more open files" in err


def test_number_of_connections_leaves_descriptors_for_files():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert 100 < max_connections() < 256
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_signal_does_not_wait_for_half_a_body(served_build):
    with running(served_build) as (process, port), send(port, POST, b"Content-Length: 100\r\n\r\n{") as connection:
        assert health(port) == 200
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")
        assert connection.recv(1 << 16) == b""


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",  # TLS
        b"GET /health\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n\r\n",
        HEAD + b"X: " + b"x" * (1 << 20) + b"\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip\r\n\r\n",
    ],
)
def test_bytes_that_are_not_http_get_one_sentence(client, request_bytes):
    with serving(client.app) as port:
        connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        connection.sendall(request_bytes)
        head, _, content = connection.recv(1 << 16).partition(b"\r\n\r\n")
        connection.close()
        assert head.split()[1] in (b"400", b"501")
        assert json.loads(content)["error"].endswith(".")
