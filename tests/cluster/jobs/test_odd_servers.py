"""`submit` and `doctor` with servers that answer a request in an odd way: one sentence each."""

import base64
import hashlib
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bitcipher.errors import BitcipherError
from cluster.cli.main import all_commands
from cluster.doctor import checks
from cluster.doctor.check_result import Level
from cluster.jobs import dashboard_requests
from cluster.jobs import submit as submission
from cluster.jobs.job_server import find_address

COMMANDS = all_commands()
JOB = {"type": "SUBMISSION", "submission_id": "job-1", "status": "SUCCEEDED", "entrypoint": "x", "driver_exit_code": 0}
REPORT = {"nodes": {"cluster": [["cluster", "ok", "Nodes: 1."]]}, "versions": {}, "dashboard": "http://127.0.0.1:8265"}

Answer = Callable[[socket.socket, str], None]


def send(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def as_json(value: object) -> Answer:
    return lambda client, request: client.sendall(send("200 OK", json.dumps(value).encode()))


def tail(client: socket.socket, request: str) -> None:
    """Upgrade to a WebSocket, send a line of the log, and close."""
    key = re.search(r"(?im)^sec-websocket-key: (\S+)", request)[1]
    accepted = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {accepted}")
    client.sendall("\r\n".join(["HTTP/1.1 101 Switching Protocols", *upgrade, "", ""]).encode())
    client.sendall(b"\x81\x05line\n" + b"\x88\x02\x03\xe8")
    with suppress(OSError):
        client.recv(100)


# What a dashboard answers, by the method and path of the request.
PLAIN: dict[str, Answer] = {
    r"GET /api/version": as_json({"version": "4", "ray_version": "2.60.0", "ray_commit": "", "session_name": ""}),
    r"GET /api/packages/\S+": as_json({}),
    r"POST /api/jobs/": as_json({"job_id": "job-1", "submission_id": "job-1"}),
    r"GET /api/jobs/": as_json([]),
    r"GET /api/jobs/job-1": as_json(JOB),
    r"GET /api/jobs/job-1/logs": as_json({"logs": f"bitcipher-doctor:{json.dumps(REPORT)}\n"}),
    r"GET /api/jobs/job-1/logs/tail": tail,
}


def endless(start: bytes, part: bytes, pause: float = 0) -> Answer:
    def answer(client: socket.socket, request: str) -> None:
        client.sendall(start)
        while True:
            client.sendall(part)
            time.sleep(pause)

    return answer


def plain(data: bytes) -> Answer:
    return lambda client, request: client.sendall(data)


OK = b"HTTP/1.1 200 OK\r\n"
ODD: dict[str, Answer] = {
    "nothing": plain(b""),
    "no HTTP": plain(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "NUL": plain(bytes(1000)),
    "odd status": plain(send("999 Odd", b"{}")),
    "no status": plain(b"HTTP/1.1 \r\n\r\n"),
    "error page": plain(send("500 Oops", b"<html>\nTraceback (most recent call last)\n</html>")),
    "web page": plain(send("200 OK", b"<!doctype html>\n<html><body>Sign in</body></html>", "Content-Type: text/html")),
    "circle": lambda client, request: client.sendall(send("302 Found", b"", f"Location: {request.split()[1]}")),
    "elsewhere": plain(send("307 Moved", b"", "Location: http://192.0.2.1/login?token=hunter2")),
    "invalid place": plain(send("301 Moved", b"", "Location: http://[")),
    "invalid JSON": plain(send("200 OK", b"[{")),
    "not UTF-8": plain(send("200 OK", b"\xff\xfe{}")),
    "deep JSON": plain(send("200 OK", b"[" * 100_000)),
    "deep object": plain(send("200 OK", b'{"a":' * 100_000)),
    "invalid gzip": plain(send("200 OK", b"no gzip", "Content-Encoding: gzip")),
    "cut short": plain(OK + b"Content-Length: 1000\r\n\r\n[]"),
    "invalid length": plain(OK + b"Content-Length: many\r\n\r\n[]"),
    "invalid chunks": plain(OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n[]"),
    "many headers": endless(OK, b"X-Header: 1\r\n" * 100),
    "long header": endless(OK + b"X-Header: ", b"1" * 10_000),
    "large body": endless(OK + b"\r\n", b"[" * 10_000),
    "large chunks": endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"2710\r\n" + b"[" * 10_000 + b"\r\n"),
    "wrong dates": plain(send("200 OK", b"[]", "Date: yesterday, at tea")),
    "absurd dates": plain(send("200 OK", b"[]", "Date: Mon, 99 Foo 99999999 99:99:99 +9999")),
    "controls": plain(send("500 \x1b[31mOops", b"\x1b]0;title\x07\x1b[2J")),
}
for value in (None, 3, "text", [], {}, [3], {"logs": 3}, {"logs": "bitcipher-doctor:{}"}, {"ray_version": []}):
    ODD[f"JSON {value}"] = as_json(value)
ODD["JSON wrong ID"] = as_json({"job_id": "a/../b", "submission_id": "a/../b; rm"})
ODD["JSON wrong status"] = as_json({**JOB, "status": "FINE"})
ODD["JSON wrong code"] = as_json({**JOB, "status": "FAILED", "driver_exit_code": "x"})
for part in ({"nodes": []}, {"nodes": {"a": [[1]]}}, {"nodes": {"a": [["a", "fine", "b"]]}}, {"dashboard": "http://["}):
    ODD[f"report {part}"] = as_json({"logs": f"bitcipher-doctor:{json.dumps({**REPORT, **part})}"})
SLOW: dict[str, Answer] = {
    "silence": lambda client, request: time.sleep(3),
    "silent body": lambda client, request: (client.sendall(OK + b"Content-Length: 9\r\n\r\n["), time.sleep(3)),
    "dripping body": endless(OK + b"\r\n", b"[", 0.05),
    "dripping header": endless(OK, b"X", 0.05),
    "continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.01),
}


class OddDashboard:
    """Server on loopback that answers as a dashboard, except to requests that match a pattern."""

    def __init__(self) -> None:
        self.pattern, self.answer = "", PLAIN["GET /api/jobs/"]
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._socket.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(5)
            data = b""
            while b"\r\n\r\n" not in data:
                data += client.recv(1 << 16) or b"\r\n\r\n"
            head, _, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"(?im)^content-length: (\d+)", head)
            while length and len(body) < int(length[1]):
                body += client.recv(1 << 16)
            line = " ".join(head.decode("latin-1").split()[:2])
            is_odd = self.pattern and re.fullmatch(self.pattern, line)
            answer = self.answer if is_odd else next((a for p, a in PLAIN.items() if re.fullmatch(p, line)), plain(b""))
            answer(client, head.decode("latin-1"))


@pytest.fixture(scope="module")
def dashboard() -> Iterator[OddDashboard]:
    server = OddDashboard()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(dashboard_requests, "TIMEOUT_SECONDS", 0.5)
    monkeypatch.setattr(dashboard_requests, "TOTAL_SECONDS", dict.fromkeys(("GET", "POST", "PUT"), 1.0))
    monkeypatch.setattr(dashboard_requests, "MAX_ANSWER_BYTES", 1 << 20)
    monkeypatch.setattr(checks, "JOB_SECONDS", 2)
    # The code takes a second to pack.
    monkeypatch.setattr(submission, "pack_code", lambda _: [])


def check_commands(dashboard: OddDashboard, pattern: str, answer: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    dashboard.pattern, dashboard.answer = pattern, answer
    try:
        code = submission.submit(COMMANDS, ["inspect", "/x"], dashboard.address, None, [], False)
        assert isinstance(code, int)
    except BitcipherError as error:
        check_sentence(str(error))
    for results in checks.run_checks(dashboard.address, None).values():
        for each in results:
            assert isinstance(each.level, Level)
            check_sentence(each.message)
    output = "".join(capsys.readouterr())
    assert not re.search(r"Traceback|\x1b|hunter2", output)


def check_sentence(text: str) -> None:
    assert text.endswith((".", ")"))
    assert "\n" not in text
    assert len(text) <= 2000
    assert not re.search(r"Traceback|\x1b|hunter2|object at 0x", text)


def test_plain_dashboard_is_used(dashboard, capsys):
    dashboard.pattern = ""
    assert submission.submit(COMMANDS, ["inspect", "/x"], dashboard.address, None, [], False) == 0
    assert capsys.readouterr().out == "line\n"
    results = checks.check_cluster(dashboard.address, None)
    assert [each.message for each in results["cluster"] if each.check == "cluster"] == ["Nodes: 1."]


@pytest.mark.parametrize("odd", ODD)
def test_odd_answers_give_one_sentence(dashboard, capsys, odd):
    for pattern in PLAIN:
        check_commands(dashboard, pattern, ODD[odd], capsys)
    check_commands(dashboard, ".*", ODD[odd], capsys)


@pytest.mark.slow
@pytest.mark.parametrize("slow", SLOW)
@pytest.mark.parametrize("pattern", [each for each in PLAIN if not each.endswith("tail")])
def test_slow_answers_end_in_time(dashboard, capsys, slow, pattern):
    start = time.monotonic()
    check_commands(dashboard, pattern, SLOW[slow], capsys)
    assert time.monotonic() - start < 60


def test_silence_gives_one_sentence(dashboard):
    dashboard.pattern, dashboard.answer = ".*", SLOW["dripping header"]
    with pytest.raises(BitcipherError, match=r"did not finish its answer within 1\.0 s"):
        submission.submit(COMMANDS, ["inspect", "/x"], dashboard.address, None, [], False)


@pytest.mark.parametrize(
    ("odd", "check", "message"),
    [
        ("web page", "address", "not a Ray dashboard"),
        ("wrong dates", "cluster's clock", "sends 'yesterday, at tea' as its date"),
        ("elsewhere", "address", "redirects to http://192.0.2.1/login: give the address"),
        ("no HTTP", "address", "no answer of HTTP"),
        ("large body", "address", "sends more than 1 MiB"),
    ],
)
def test_doctor_says_what_is_odd(dashboard, odd, check, message):
    dashboard.pattern, dashboard.answer = "GET /api/jobs/", ODD[odd]
    found = {each.check: each for each in checks.check_cluster(dashboard.address, None)["cluster"]}
    assert message in found[check].message
    assert found[check].level is not Level.OK


@pytest.mark.parametrize("address", ["http://[", "http://h:port", "http://h:99999", "http://", "ftp://h"])
def test_addresses_that_are_none_give_one_sentence(address):
    with pytest.raises(BitcipherError, match="not the address of a Ray dashboard"):
        find_address(address)
