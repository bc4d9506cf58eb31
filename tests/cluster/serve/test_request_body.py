"""Bodies are read up to a limit, whatever size they announce."""

import http.client
import json
import re
from urllib.request import urlopen

import pytest
from served_builds import running, send, serving

from cluster.serve import request_body
from cluster.serve.request_body import RequestBodies
from cluster.serve.request_records import MAX_BODY_BYTES

CHUNKED = b"POST /encode HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n"


async def count(scope, receive, send):
    """Application that answers with the number of bytes of a body."""
    content = json.dumps({"bytes": len((await receive())["body"])}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(content))]})
    await send({"type": "http.response.body", "body": content})


def chunk(size):
    return b"%x\r\n" % size + b" " * size + b"\r\n"


def answer_of(connection):
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response.status, json.loads(response.read())


def test_body_is_passed_on_in_one_piece():
    with serving(RequestBodies(count)) as port:
        with send(port, CHUNKED, chunk(300_000), chunk(MAX_BODY_BYTES - 300_000), b"0\r\n\r\n") as connection:
            assert answer_of(connection) == (200, {"bytes": MAX_BODY_BYTES})
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert answer_of(connection) == (200, {"bytes": 0})
        head = b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
        with send(port, head) as connection:
            assert answer_of(connection) == (200, {"bytes": 5})


@pytest.mark.parametrize("method", [b"POST", b"GET", b"DELETE"])
def test_larger_body_than_announced_is_refused(method):
    with (
        serving(RequestBodies(count)) as port,
        send(port, CHUNKED.replace(b"POST", method), chunk(MAX_BODY_BYTES + 1)) as connection,
    ):
        status, fields = answer_of(connection)
        assert (status, "more than 1,048,576 bytes" in fields["error"]) == (413, True)


def test_bodies_of_all_clients_are_limited(monkeypatch):
    monkeypatch.setattr(request_body, "MAX_BYTES_OF_ALL", 1_000_000)
    bodies = RequestBodies(count)
    with serving(bodies) as port:
        waiting = [send(port, CHUNKED, chunk(600_000)) for _ in range(2)]
        with send(port, CHUNKED, chunk(1), b"0\r\n\r\n") as connection:
            statuses = [answer_of(connection)[0]]
        for each in waiting:
            each.sendall(b"0\r\n\r\n")
            statuses.append(answer_of(each)[0])
            each.close()
        assert 503 in statuses
        with send(port, CHUNKED, chunk(600_000), b"0\r\n\r\n") as connection:
            assert answer_of(connection) == (200, {"bytes": 600_000})
    assert bodies._bytes == 0


@pytest.mark.slow
def test_gigabyte_adds_no_memory(served_build):
    def memory():
        text = urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
        return float(re.search(r"^process_resident_memory_bytes (\S+)$", text, re.MULTILINE)[1])

    with running(served_build) as (_, port):
        connection = send(port, CHUNKED)
        before, highest = memory(), 0.0
        for number in range(1024):
            connection.sendall(chunk(1 << 20))
            if number % 64 == 0:
                highest = max(highest, memory())
        connection.sendall(b"0\r\n\r\n")
        assert answer_of(connection)[0] == 413
        assert highest < before + 20e6
