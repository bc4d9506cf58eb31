"""The proxy of kubernetes-serve.yaml: its configuration in a real nginx, before a real `bitcipher serve`."""

import http.client
import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from served_builds import running, write_build

import cluster

MANIFEST = Path(cluster.__file__).parent / "envs" / "kubernetes-serve.yaml"
MISSING = [name for name in ("nginx", "openssl") if not shutil.which(name)]
TOKENS = {"reports": "1f" * 32, "search": "a0" * 32}


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def proxy(tmp_path_factory) -> Iterator[tuple[int, Path]]:
    """Start the server and the proxy before it; yield the port of the proxy and the folder of its files."""
    folder = tmp_path_factory.mktemp("proxy")
    build = write_build(folder)
    lines = [f'"Bearer {token}" {name};\n' for name, token in TOKENS.items()]
    (folder / "clients.map").write_text("".join(lines))
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    files = ["-keyout", folder / "tls.key", "-out", folder / "tls.crt"]
    subprocess.run([*made, *map(str, files)], check=True, capture_output=True)
    config = next(each for each in yaml.safe_load_all(MANIFEST.read_text()) if each["kind"] == "ConfigMap")
    text, port = config["data"]["nginx.conf"], find_free_port()
    with running(build) as (_, served):
        changes = {"/tmp/": f"{folder}/", "/dev/stdout": f"{folder}/log", "/etc/clients/": f"{folder}/"}
        changes |= {"/etc/tls/": f"{folder}/", ":8000": f":{served}", "listen 8443": f"listen 127.0.0.1:{port}"}
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        (folder / "nginx.conf").write_text(text)
        command = ["nginx", "-c", str(folder / "nginx.conf"), "-e", "/dev/stderr", "-g", "daemon off;"]
        process = subprocess.Popen(command, stderr=(folder / "errors").open("w"))
        try:
            while not is_listening(port):
                assert process.poll() is None, (folder / "errors").read_text()
                time.sleep(0.02)
            yield port, folder
        finally:
            process.terminate()
            process.wait()


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ask(port: int, path: str, token: str | None = None, body: bytes | None = None) -> tuple[int, object]:
    """Return the status and the content of an answer of the proxy."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=context)
    headers = {"Content-Type": "application/json", "Host": "serve.example.org"}
    headers |= {"Authorization": token} if token else {}
    connection.request("POST" if body else "GET", path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status != 401 or answer.headers["WWW-Authenticate"] == "Bearer"
    return answer.status, json.loads(content) if answer.headers["Content-Type"] == "application/json" else content


pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {' and '.join(MISSING)}")


@pytest.mark.parametrize("path", ["/neighbors?word=w1", "/metrics", "/", "/openapi.json", "/health/", "/x"])
def test_requests_without_a_token_are_refused(proxy, path):
    port, _ = proxy
    wrong = "Bearer " + "0" * 64
    for token in (None, wrong, "Bearer", "Bearer ", TOKENS["reports"], f"Basic {TOKENS['reports']}"):
        status, content = ask(port, path, token)
        assert status == 401
        assert "needs a token" in content["error"]


def test_clients_with_a_token_get_answers_and_are_logged_by_name(proxy):
    port, folder = proxy
    for token in TOKENS.values():
        status, content = ask(port, "/neighbors?word=w2&topn=2", f"Bearer {token}")
        assert (status, len(content["queries"][0]["neighbors"])) == (200, 2)
        assert ask(port, "/vectors", f"Bearer {token}", json.dumps({"words": ["w1"]}).encode())[0] == 200
    log = (folder / "log").read_text()
    assert log.count('"reports" ') == log.count('"search" ') == 2
    assert not any(token in log for token in TOKENS.values())
    assert "word=" not in log


@pytest.mark.parametrize("path", ["/health", "//health", "/neighbors/../health?word=w2", "/neighbors%2f..%2fhealth"])
def test_only_health_needs_no_token(proxy, path):
    status, content = ask(proxy[0], path)
    assert (status, content["status"]) == (200, "ok")


def test_large_bodies_are_refused_before_the_server(proxy):
    assert ask(proxy[0], "/vectors", f"Bearer {TOKENS['search']}", b"x" * (2 << 20))[0] == 413


def test_plain_http_is_refused(proxy):
    connection = http.client.HTTPConnection("127.0.0.1", proxy[0], timeout=60)
    connection.request("GET", "/health")
    assert connection.getresponse().status == 400
