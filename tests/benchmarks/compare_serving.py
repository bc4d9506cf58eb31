"""Requests per second and latency of `bitcipher serve`, and of gensim behind the same web application.

compare_serving.py [--words 100000 1000000] [--build BUILD]    needs the load generator wrk (apt-get install wrk)

Both serve the same made-up table, one after the other, and wrk asks for neighbors of random words, vectors of 16 of
them, and embeddings of sentences of 16 of them. Times of clients are of all answers, and times in the server, which it
measures itself, of those with status 200. With --build, a build with several versions, its newest version is published
while wrk asks for neighbors in the one before. More than 900 connections need `ulimit -n 4096` before.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np
from machine import describe_run, run_lines

from bitcipher import CipherVectors
from bitcipher.versions import manifest_uri, versions

HERE = Path(__file__).parent
QUERIES = 2000
BLOCK_ROWS = 1 << 16

OURS = (sys.executable, "-m", "cluster.cli.main", "serve")
THEIRS = (sys.executable, HERE / "serve_gensim.py")

WORDS_PER_BODY = 16

# The application limits what waits for searches, which says nothing of gensim.
MAX_PEER_CONNECTIONS = 16

PATHS = ("/neighbors", "/vectors", "/encode")

HEADER = (
    "| words | path | server | connections | 200 per s | median, ms | 99 %, ms | 99 % of 200 in the server, ms "
    "| longest 503, ms | 503, % | CPU, ms per 200 | memory, MB | requests | failed |\n" + "|---" * 14 + "|"
)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, nargs="*", default=[100_000, 1_000_000], help="sizes of made-up tables")
    parser.add_argument("--dimensions", type=int, default=200, help="dimensions of made-up tables")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16], help="concurrent connections")
    parser.add_argument("--paths", nargs="+", default=["/neighbors"], choices=PATHS, help="what is asked for")
    parser.add_argument("--seconds", type=int, default=10, help="duration of each load")
    parser.add_argument("--build", help="build with several versions")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        parser.error("wrk is not on the PATH: run `apt-get install wrk`.")
    print(*run_lines(describe_run()), "", HEADER, sep="\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="bitcipher-serving-") as temporary:
        for words in options.words:
            compare(Path(temporary, str(words)), words, options)
        if options.build:
            publish(Path(temporary), options.build, options)


def compare(folder: Path, words: int, options: argparse.Namespace) -> None:
    """Print the rows of both servers for a table of some words."""
    folder.mkdir()
    make_table(folder, words, options.dimensions)
    names = [f"w{row}" for row in range(0, words, max(1, words // QUERIES))]
    for path in options.paths:
        write_requests(folder / path[1:], path, names)
    for name, command in (
        ("bitcipher", [*OURS, folder / "ours", "--port", "0"]),
        ("gensim", [*THEIRS, folder / "theirs"]),
        ("gensim, 1 BLAS thread", ["env", "OPENBLAS_NUM_THREADS=1", *THEIRS, folder / "theirs"]),
    ):
        with running(command) as address:
            for path in options.paths:
                if path == "/encode" and name != "bitcipher":
                    continue  # gensim has no embeddings of sentences
                load(address, path, folder / path[1:], 1, 1)  # warms up
                peer_connections = [each for each in options.connections if each <= MAX_PEER_CONNECTIONS]
                for connections in options.connections if name == "bitcipher" else peer_connections:
                    result = load(address, path, folder / path[1:], connections, options.seconds)
                    print_row(f"{words:,}", path, name, connections, result)
    shutil.rmtree(folder)


def publish(folder: Path, build: str, options: argparse.Namespace) -> None:
    """Print the row of a load during which the newest version of a build is published."""
    copy = folder / "build"
    shutil.copytree(build, copy)
    *_, before, newest = versions(str(copy))
    manifest, hidden = Path(manifest_uri(str(copy), newest)), folder / "manifest.json"
    manifest.rename(hidden)
    words = CipherVectors.load(copy, before).index_to_key[:QUERIES]
    write_requests(folder / "requests", "/neighbors", words)
    with running([*OURS, copy, "--port", "0", "--check-seconds", "1"]) as address:
        threading.Timer(options.seconds / 4, hidden.rename, [manifest]).start()
        result = load(address, "/neighbors", folder / "requests", max(options.connections), options.seconds)
        served = json.loads(urlopen(f"{address}/health").read())["version"]
    assert served == newest, f"version {served} is served, not {newest}"
    print_row(f"version {before}, then {newest}", "/neighbors", "bitcipher", max(options.connections), result)


def make_table(folder: Path, words: int, dimensions: int) -> None:
    """Write the same random vectors for both servers."""
    from serve_gensim import GensimTable

    random, table = np.random.default_rng(1), np.empty((words, dimensions), np.float32)
    for start in range(0, words, BLOCK_ROWS):
        block = table[start : start + BLOCK_ROWS]
        random.standard_normal(out=block, dtype=np.float32)
        block /= np.linalg.norm(block, axis=1, keepdims=True)
    names = [f"w{row}" for row in range(words)]
    CipherVectors(names, table, counts=np.arange(words, 0, -1)).save(folder / "ours")
    theirs = GensimTable(dimensions)
    theirs.index_to_key, theirs.key_to_index = names, {name: row for row, name in enumerate(names)}
    theirs.vectors = table
    theirs.save(str(folder / "theirs"))


def write_requests(file: Path, path: str, words: list[str]) -> None:
    """Write requests for wrk: one line per request, with a path, and a body after a tab."""
    choose = random.Random(1)
    lines = []
    for word in words:
        several = [word, *choose.choices(words, k=WORDS_PER_BODY - 1)]
        body = {"/vectors": {"words": several}, "/encode": {"texts": [" ".join(several)]}}.get(path)
        lines.append(f"{path}\t{json.dumps(body)}\n" if body else f"{path}?word={quote(word, safe='')}\n")
    file.write_text("".join(lines))


@contextmanager
def running(command: list[Any]) -> Iterator[str]:
    """Start a server; yield its address."""
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = re.search(r"http://\S+:\d+", server.stdout.readline())
        assert address, "the server does not start"
        try:
            yield address[0]
        finally:
            server.terminate()


def load(address: str, path: str, requests: Path, connections: int, seconds: int) -> dict[str, float]:
    """Run the load generator, and return what it and the server measured."""
    before = read_metrics(address)
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", HERE / "serving_load.lua"]
    process = subprocess.run([*command, address, "--", requests, "1"], check=True, capture_output=True, text=True)
    after = read_metrics(address)
    (result,) = re.findall(r"^RESULT (.*)$", process.stdout, re.MULTILINE)
    labels = {status: f'path="{path}",status="{status}"' for status in (200, 503)}
    counts = {
        status: after.get(f"bitcipher_requests_total{{{label}}}", 0)
        - before.get(f"bitcipher_requests_total{{{label}}}", 0)
        for status, label in labels.items()
    }
    return {
        **json.loads(result),
        "answered": counts[200],
        "refused": counts[503],
        "server_p99_ms": 1e3 * quantile(before, after, labels[200], 0.99),
        "longest_503_ms": 1e3 * quantile(before, after, labels[503], 1),
        "cpu": after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"],
        "memory": after["process_resident_memory_bytes"],
    }


def read_metrics(address: str) -> dict[str, float]:
    """Return the metrics of a server by name, with labels."""
    lines = urlopen(f"{address}/metrics").read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines) if name[:1] != "#"}


def quantile(before: dict[str, float], after: dict[str, float], labels: str, share: float) -> float:
    """Return a quantile of the durations of requests, in seconds; within its bucket, it is interpolated."""
    prefix = "bitcipher_request_duration_seconds_bucket{"
    found = []
    for name in after:
        if match := re.fullmatch(re.escape(prefix) + r'(?:le="([^"]+)",)?' + labels + r'(?:,le="([^"]+)")?}', name):
            found.append((float(match[1] or match[2]), after[name] - before.get(name, 0)))
    found.sort()
    wanted, lower, below = share * (found[-1][1] if found else 0), 0.0, 0.0
    for bound, count in found if wanted else ():
        if count >= wanted:
            return lower + (bound - lower) * (wanted - below) / (count - below) if bound < float("inf") else lower
        lower, below = bound, count
    return 0.0


def print_row(words: str, path: str, server: str, connections: int, result: dict[str, float]) -> None:
    """Print the row of a load."""
    answered, refused = max(1, result["answered"]), result["refused"]
    columns = [
        *(words, path, server, connections, f"{answered / result['seconds']:,.0f}"),
        *(f"{result[name]:.1f}" for name in ("p50_ms", "p99_ms", "server_p99_ms", "longest_503_ms")),
        *(f"{100 * refused / (answered + refused):.0f}", f"{1e3 * result['cpu'] / answered:.1f}"),
        *(f"{result['memory'] / 1e6:.0f}", f"{result['requests']:,}", f"{result['failed'] - refused:.0f}"),
    ]
    print("| " + " | ".join(map(str, columns)) + " |", flush=True)


if __name__ == "__main__":
    main()
