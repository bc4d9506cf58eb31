"""An hour of mixed load on `bitcipher serve`, while versions are published, damaged and removed, and clients misbehave.

soak_serving.py SOURCE [--minutes 60]    a build is made of SOURCE, a .jsonl.gz file, and updates of samples of it

In each round, a version is published by an update, every third one damaged, and old ones are pruned. Well-formed
clients ask for everything that the server answers. Others stall, drip, vanish, take no answer, or send what is not
HTTP. At the end of a round, the clients pause, each kind of request is sent once, and memory and file descriptors are
read from the server's metrics: an explanation takes much memory while it is made. Prints a row per round, and exits
with code 1 if a well-formed request failed with another status than 503, a connection broke, or memory has grown.
"""

import argparse
import gzip
import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from machine import describe_run, run_lines

from bitcipher import CipherVectors
from bitcipher.versions import manifest_uri, versions

COMMAND = (sys.executable, "-m", "cluster.cli.main")
WELL_FORMED, MISBEHAVING = 6, 5
# Seconds after a switch of versions until memory is read: requests in progress end, and all parts are made again.
SETTLE_SECONDS = 10
ADDED_DOCUMENTS = 20

HEADER = "| round | version | memory, MB | files | answers 200 | 503 | failed | odd clients |\n" + "|---" * 8 + "|"


def main() -> int:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="SOURCE", help="file of documents, .jsonl.gz with the field text")
    parser.add_argument("--vector-size", type=int, default=200, help="dimensions")
    parser.add_argument("--minutes", type=float, default=60, help="duration")
    parser.add_argument("--round-seconds", type=float, default=60, help="seconds between versions")
    options = parser.parse_args()
    print(*run_lines(describe_run()), "", HEADER, sep="\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="bitcipher-soak-") as folder:
        return soak(Path(folder), options)


def soak(folder: Path, options: argparse.Namespace) -> int:
    """Run all rounds, and return the exit code."""
    made, served = folder / "made", folder / "served"
    with gzip.open(options.source, "rt", encoding="utf-8") as lines:
        documents = list(lines)
    run("build", options.source, "--out", made, "--vector-size", options.vector_size)
    shutil.copytree(made, served)
    words = CipherVectors.load(made).index_to_key[:500]
    statuses: Counter[Any] = Counter()
    failures: list[str] = []
    stop, may_ask = threading.Event(), threading.Event()
    may_ask.set()
    rounds: list[tuple[float, float]] = []
    with serving(served) as port:
        clients = [lambda: well_behaved(port, words, statuses, failures)] * WELL_FORMED
        clients += [lambda: odd(port, words, statuses)] * MISBEHAVING
        threads = [threading.Thread(target=repeat, args=(client, stop, may_ask)) for client in clients]
        for thread in threads:
            thread.start()
        end, number = time.monotonic() + 60 * options.minutes, 0
        while time.monotonic() < end:
            number += 1
            start = time.monotonic()
            before = health(port)["version"]
            added = folder / f"added-{number}.jsonl"
            added.write_text("".join(random.Random(number).choices(documents, k=ADDED_DOCUMENTS)))
            run("update", made, added)
            newest = publish(made, served, is_damaged=number % 3 == 0)
            if number % 3:
                wait_for(lambda newest=newest: health(port)["version"] == newest)
            else:
                time.sleep(SETTLE_SECONDS)
                assert health(port)["version"] == before, "a damaged version is served"
            for each in (made, served):
                run("prune", each, "--keep", "2")
            time.sleep(max(SETTLE_SECONDS, options.round_seconds - (time.monotonic() - start)))
            may_ask.clear()
            rounds.append(read_sizes(port, words))
            may_ask.set()
            memory, files = rounds[-1]
            odd_ones = sum(count for name, count in statuses.items() if isinstance(name, str))
            columns = [number, health(port)["version"], f"{memory / 1e6:.1f}", f"{files:.0f}", statuses[200]]
            columns += [statuses[503], len(failures), odd_ones]
            print("| " + " | ".join(map(str, columns)) + " |", flush=True)
        stop.set()
        for thread in threads:
            thread.join()
        print(f"\nStatuses and odd clients: {dict(statuses)}", *failures[:20], sep="\n", flush=True)
    first, last = rounds[0][0], max(memory for memory, _ in rounds[1:])
    print(f"Memory after the first switch {first / 1e6:.1f} MB, highest after later ones {last / 1e6:.1f} MB.")
    return int(bool(failures) or last > 1.05 * first)


def run(*arguments: object) -> None:
    """Run a command of bitcipher."""
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    subprocess.run([*COMMAND, *map(str, arguments)], check=True, capture_output=True, env=environment)


def publish(made: Path, served: Path, is_damaged: bool) -> int:
    """Copy the newest version to the folder that is served, its manifest last, and return its number."""
    newest = versions(str(made))[-1]
    manifest = Path(manifest_uri(str(made), newest))
    patterns = ("shards/*", "segments/*", f"versions/{manifest.stem}-*/**/*")
    for path in [path for pattern in patterns for path in made.glob(pattern)]:
        copy = served / path.relative_to(made)
        if path.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            if is_damaged and path.name == "vectors.safetensors":
                data = bytearray(copy.read_bytes())
                data[len(data) // 2] ^= 1
                copy.write_bytes(data)
    shutil.copyfile(manifest, served / "manifest.unfinished")
    (served / "manifest.unfinished").rename(served / manifest.relative_to(made))
    return newest


@contextmanager
def serving(build: Path) -> Iterator[int]:
    """Start a server; yield its port."""
    command = [*COMMAND, "serve", str(build), "--port", "0", "--check-seconds", "1"]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as server,
    ):
        assert server.stdout
        port = re.search(r"http://127\.0\.0\.1:(\d+)\. ", server.stdout.readline())
        assert port, "the server does not start"
        threading.Thread(target=server.stdout.read, daemon=True).start()
        try:
            yield int(port[1])
        finally:
            server.terminate()
            print(f"\nExit code of the server: {server.wait(60)}")
            errors.seek(0)
            print("Its stderr:", *sorted(Counter(errors.read().splitlines()).items()), sep="\n")


def repeat(client: Callable[[], None], stop: threading.Event, may_ask: threading.Event) -> None:
    """Call a client until the end, except in pauses."""
    while not stop.is_set():
        may_ask.wait()
        client()


Request = tuple[str, str, dict[str, Any] | None]


def requests_for(words: list[str]) -> list[Request]:
    """Return valid requests of all kinds: method, path and body."""
    several = random.choices(words, k=8)
    first, *others = (quote(word, safe="") for word in several)
    return [
        ("GET", f"/neighbors?word={first}", None),
        ("GET", f"/neighbors?word={first}&word=" + "&word=".join(others), None),
        ("GET", f"/neighbors?word={first}&case_insensitive=true", None),
        ("POST", "/vectors", {"words": several}),
        ("POST", "/encode", {"texts": [" ".join(several)]}),
        ("GET", f"/explain?word={first}", None),
        *(("GET", path, None) for path in ("/health", "/metrics", "/", "/openapi.json")),
    ]


def send(connection: http.client.HTTPConnection, method: str, path: str, body: Any) -> tuple[int, bytes]:
    """Send a request, and return the status and the content of the answer."""
    headers = {"Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    response = connection.getresponse()
    return response.status, response.read()


def well_behaved(port: int, words: list[str], statuses: Counter[Any], failures: list[str]) -> None:
    """Send some valid requests over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    for _ in range(20):
        request = random.choice(requests_for(words))
        try:
            status, content = send(connection, *request)
        except OSError as error:
            failures.append(f"{request[1]}: {error!r}")
            break
        statuses[status] += 1
        if status not in (200, 503):
            failures.append(f"{request[1]}: {status} {content[:200]!r}")
        time.sleep(random.uniform(0, 0.1))
    connection.close()


def odd(port: int, words: list[str], statuses: Counter[Any]) -> None:
    """Be a client that harms others."""
    kind = random.choice([stall, drip, vanish, take_nothing, send_much, send_noise])
    statuses[kind.__name__] += 1
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        kind(connection, words)


POST = b"POST /vectors HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def stall(connection: socket.socket, words: list[str]) -> None:
    """Send half a head, and wait."""
    connection.sendall(POST[: random.randrange(len(POST))])
    time.sleep(random.uniform(0, 15))


def drip(connection: socket.socket, words: list[str]) -> None:
    """Send a body byte by byte."""
    connection.sendall(POST + b"Content-Length: 1000\r\n\r\n")
    for _ in range(200):
        connection.sendall(b" ")
        time.sleep(0.1)


def vanish(connection: socket.socket, words: list[str]) -> None:
    """Ask for much, and go."""
    for _ in range(20):
        query = "&".join(f"word={quote(word, safe='')}" for word in random.choices(words, k=16))
        connection.sendall(f"GET /neighbors?{query}&topn=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())


def take_nothing(connection: socket.socket, words: list[str]) -> None:
    """Ask for much, and do not read it."""
    body = json.dumps({"words": random.choices(words, k=1000)}).encode()
    for _ in range(5):
        connection.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    time.sleep(10)


def send_much(connection: socket.socket, words: list[str]) -> None:
    """Send a body that is much larger than announced."""
    connection.sendall(POST + b"Content-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(20):
        connection.sendall(b"100000\r\n" + b" " * 0x100000 + b"\r\n")


def send_noise(connection: socket.socket, words: list[str]) -> None:
    """Send random bytes."""
    connection.sendall(random.randbytes(random.randrange(1, 10_000)))
    time.sleep(random.uniform(0, 2))


def health(port: int) -> dict[str, Any]:
    """Return the fields of `GET /health`."""
    return json.loads(urlopen(f"http://127.0.0.1:{port}/health", timeout=60).read())


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, at most for ten minutes."""
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline, "the newest version is not served"
        time.sleep(0.2)


def read_metrics(port: int) -> dict[str, float]:
    """Return the metrics of the server that have no labels."""
    text = urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
    return {name: float(value) for name, value in re.findall(r"^([a-z_]+) (\S+)$", text, re.MULTILINE)}


def read_sizes(port: int, words: list[str]) -> tuple[float, float]:
    """Return the memory of the server in bytes, and the number of its file descriptors, without requests in progress.

    All parts of the version that is served are made before.
    """
    wait_for(lambda: read_metrics(port)["bitcipher_requests_in_progress"] == 1)
    for request in requests_for(words):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        send(connection, *request)
        connection.close()
    wait_for(lambda: read_metrics(port)["bitcipher_connections"] == 1)
    metrics = read_metrics(port)
    return metrics["process_resident_memory_bytes"], metrics["process_open_fds"]


if __name__ == "__main__":
    sys.exit(main())
