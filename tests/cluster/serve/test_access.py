"""Which requests are answered: names of hosts, pages of other sites, tokens and numbers of requests per client."""

import asyncio
import http.client
import json
import threading

import pytest
from served_builds import make_client, running, send, serving

from bitcipher.errors import BitcipherError
from cluster.serve.access import AccessControl, AccessRules, allowed_hosts, read_token

TOKEN = "0123456789abcdef-token"


def status_of(port, host, path="/health", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": host, **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    fields = json.loads(answer.read())
    assert (answer.status == 200) == ("error" not in fields)
    return answer.status


def test_server_on_loopback_answers_only_to_its_names(served_build):
    with running(served_build, "--allowed-host", "Vectors.example.org") as (process, port):
        for host in (f"127.0.0.1:{port}", "localhost", "LOCALHOST:80", "[::1]:8000", "vectors.example.org:443"):
            assert status_of(port, host) == 200
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "", "10.0.0.1", "[::2", "a b"):
            assert status_of(port, host) == 421
        with send(port, b"GET /health HTTP/1.0\r\n\r\n") as connection:
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 421 ")
        process.terminate()
        assert process.communicate(timeout=60) == ("", "")


def test_server_on_other_addresses_checks_names_that_are_given_and_warns(served_build):
    with running(served_build, "--host", "0.0.0.0") as (process, port):
        assert status_of(port, "any.example") == 200
        process.terminate()
        assert "there is no authentication: give `--token-file`" in process.communicate(timeout=60)[1]
    assert allowed_hosts("0.0.0.0", "0.0.0.0", []) is None
    assert allowed_hosts("0.0.0.0", "0.0.0.0", ["A.example"]) == {"a.example"}
    assert allowed_hosts("box", "127.0.1.1", []) == {"box", "127.0.1.1", "localhost", "127.0.0.1", "::1"}
    assert "localhost" in allowed_hosts("::1", "::1", [])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, 200),
        ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, 403),
    ],
)
def test_pages_of_other_sites_are_refused(client, headers, status):
    assert client.get("/neighbors?word=w1", headers=headers).status_code == status


def test_token_is_needed_but_for_health(served_build, queue, tmp_path):
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    client = make_client(served_build, queue, AccessRules(token=read_token(str(tmp_path / "token"))))
    assert client.get("/health").status_code == 200
    assert client.get("/neighbors?word=w1", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    wrong = ["", "Bearer", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN, "Bearer \u00ff"]
    for given in wrong:
        headers = {"Authorization": given.encode("latin-1")} if given else {}
        for path in ("/neighbors?word=w1", "/metrics", "/", "/openapi.json", "/nosuch"):
            answer = client.get(path, headers=headers)
            assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
            assert TOKEN not in answer.text
        assert client.post("/encode", json={"texts": ["w1"]}, headers=headers).status_code == 401


@pytest.mark.parametrize("content", ["", "\n\n", "short", f"{TOKEN} b", f"{TOKEN}\nsecond", "\u00e9" * 20])
def test_file_without_one_token_is_refused(served_build, run_command, tmp_path, content):
    (tmp_path / "token").write_text(content, "utf-8")
    code, out, err = run_command("serve", served_build, "--token-file", tmp_path / "token", "--port", 0)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "must have one line with a token" in err
    assert "second" not in err
    with pytest.raises(BitcipherError, match="which does not exist"):
        read_token(str(tmp_path / "missing"))


def test_client_header_needs_a_limit(served_build, run_command):
    code, _, err = run_command("serve", served_build, "--client-header", "X-Forwarded-For")
    assert (code, "without `--requests-per-client`" in err) == (2, True)


def test_each_client_has_its_own_limit():
    release, running_requests = threading.Event(), threading.Semaphore(0)

    async def app(scope, receive, send):
        running_requests.release()
        await asyncio.to_thread(release.wait, 60)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    access = AccessControl(app, AccessRules(requests_per_client=2, client_header="X-Forwarded-For"))
    with serving(access) as port:
        results = []

        def ask(client):
            results.append((client, status_of(port, "localhost", X_Forwarded_For=f"spoofed, {client}")))

        threads = [threading.Thread(target=ask, args=(client,)) for client in ("a", "a", "b")]
        for thread in threads:
            thread.start()
            running_requests.acquire(timeout=60)
        assert status_of(port, "localhost", X_Forwarded_For="b, a") == 429
        release.set()
        for thread in threads:
            thread.join(60)
        assert sorted(results) == [("a", 200), ("a", 200), ("b", 200)]
        assert status_of(port, "localhost", X_Forwarded_For="a") == 200
    assert not access._requests  # nothing is kept of clients that have gone
