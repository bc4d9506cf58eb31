"""The server as a process: its start, its end by signals, taken ports, and a new version under requests."""

import http.client
import json
import re
import shutil
import signal
import socket
import threading
import time

import pytest
from builds import run_update
from served_builds import running, write_text

from cluster.serve.app import VERSION_HEADER
from cluster.serve.server import listen


def get(port, path):
    """Return the status, the version and the content of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.headers[VERSION_HEADER], json.loads(answer.read())


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_server_after_its_requests(served_build, number):
    body = json.dumps({"texts": ["w1 w2"]}).encode()
    with running(served_build) as (process, port):
        # A request whose body has not arrived completely is in progress.
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.putrequest("POST", "/encode")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body[:5])
        assert get(port, "/health")[0] == 200  # the server has read what was sent before
        process.send_signal(number)
        wait_until(lambda: not is_listening(port))
        connection.send(body[5:])
        answer = connection.getresponse()
        assert answer.status == 200
        assert len(json.loads(answer.read())["embeddings"]) == 1
        connection.close()
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "", "")


def test_taken_port_and_unknown_address_are_named(served_build, run_command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = run_command("serve", served_build, "--port", port)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"Cannot listen on 127.0.0.1, port {port} (Address already in use)" in err
    code, out, err = run_command("serve", served_build, "--host", "nosuch.invalid", "--port", 0)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "Cannot listen on nosuch.invalid" in err


def test_new_version_under_requests_fails_none(served_build, tmp_path):
    shutil.copytree(served_build, tmp_path / "build")
    answers, stop = [], threading.Event()

    def ask(path):
        while not stop.is_set():
            answers.append(get(port, path))

    with running(tmp_path / "build", "--check-seconds", "0.2") as (process, port):
        paths = ("/neighbors?word=w1&word=w12345", "/explain?word=w1", "/health")
        clients = [threading.Thread(target=ask, args=(path,)) for path in paths]
        for client in clients:
            client.start()
        try:
            wait_until(lambda: len(answers) > 20)
            run_update(tmp_path / "build", [write_text(tmp_path / "more.jsonl", 80)])
            wait_until(lambda: any(version == "2" for _, version, _ in answers))
            wait_until(lambda: all(version == "2" for _, version, _ in answers[-10:]))
        finally:
            stop.set()
            for client in clients:
                client.join()
        assert {status for status, _, _ in answers} == {200}
        assert {version for _, version, _ in answers} == {"1", "2"}
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert re.fullmatch(r"Serving version 2 now: [\d,]+ words\.\n", out)


def test_answers_do_not_wait_for_acknowledgments():
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
