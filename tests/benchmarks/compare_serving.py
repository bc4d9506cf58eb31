"""Requests per second and latency of `bitcipher serve`, and of gensim behind the same web application.

compare_serving.py [--words 100000 1000000] [--build BUILD]    needs the load generator wrk (apt-get install wrk)

Both serve the same made-up table, one after the other, and wrk asks for the neighbors of random words. With --build, a
build with several versions, its newest version is published while wrk asks for neighbors in the one before.
"""

import argparse
import json
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

HEADER = """| words | server | connections | requests/s | median, ms | 99 %, ms | CPU, ms/request | requests | failed |
|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, nargs="*", default=[100_000, 1_000_000], help="sizes of made-up tables")
    parser.add_argument("--dimensions", type=int, default=200, help="dimensions of made-up tables")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16], help="concurrent connections")
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
    write_paths(folder / "paths.txt", [f"w{row}" for row in range(0, words, max(1, words // QUERIES))])
    for name, command in (
        ("bitcipher", [*OURS, folder / "ours", "--port", "0"]),
        ("gensim", [*THEIRS, folder / "theirs"]),
        ("gensim, 1 BLAS thread", ["env", "OPENBLAS_NUM_THREADS=1", *THEIRS, folder / "theirs"]),
    ):
        with running(command) as address:
            load(address, folder / "paths.txt", 1, 1)  # warms up
            for connections in options.connections:
                print_row(
                    f"{words:,}", name, connections, load(address, folder / "paths.txt", connections, options.seconds)
                )
    shutil.rmtree(folder)


def publish(folder: Path, build: str, options: argparse.Namespace) -> None:
    """Print the row of a load during which the newest version of a build is published."""
    copy = folder / "build"
    shutil.copytree(build, copy)
    *_, before, newest = versions(str(copy))
    manifest, hidden = Path(manifest_uri(str(copy), newest)), folder / "manifest.json"
    manifest.rename(hidden)
    words = CipherVectors.load(copy, before).index_to_key[:QUERIES]
    write_paths(folder / "paths.txt", words)
    with running([*OURS, copy, "--port", "0", "--check-seconds", "1"]) as address:
        threading.Timer(options.seconds / 4, hidden.rename, [manifest]).start()
        result = load(address, folder / "paths.txt", max(options.connections), options.seconds)
        served = json.loads(urlopen(f"{address}/health").read())["version"]
    assert served == newest, f"version {served} is served, not {newest}"
    print_row(f"version {before}, then {newest}", "bitcipher", max(options.connections), result)


def make_table(folder: Path, words: int, dimensions: int) -> None:
    """Write the same random vectors for both servers."""
    from gensim.models import KeyedVectors

    random, table = np.random.default_rng(1), np.empty((words, dimensions), np.float32)
    for start in range(0, words, BLOCK_ROWS):
        block = table[start : start + BLOCK_ROWS]
        random.standard_normal(out=block, dtype=np.float32)
        block /= np.linalg.norm(block, axis=1, keepdims=True)
    names = [f"w{row}" for row in range(words)]
    CipherVectors(names, table).save(folder / "ours")
    theirs = KeyedVectors(dimensions)
    theirs.index_to_key, theirs.key_to_index = names, {name: row for row, name in enumerate(names)}
    theirs.vectors = table
    theirs.save(str(folder / "theirs"))


def write_paths(file: Path, words: list[str]) -> None:
    """Write a path per word for wrk."""
    file.write_text("".join(f"/neighbors?word={quote(word, safe='')}\n" for word in words))


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


def load(address: str, paths: Path, connections: int, seconds: int) -> dict[str, float]:
    """Run the load generator, and return what it measured."""
    before = cpu_seconds(address)
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", HERE / "serving_load.lua"]
    output = subprocess.run([*command, address, "--", paths, "1"], check=True, capture_output=True, text=True).stdout
    (result,) = re.findall(r"^RESULT (.*)$", output, re.MULTILINE)
    return {**json.loads(result), "cpu": cpu_seconds(address) - before}


def cpu_seconds(address: str) -> float:
    """Return the CPU time that a server has used, from its metrics."""
    metrics = urlopen(f"{address}/metrics").read().decode()
    (seconds,) = re.findall(r"^process_cpu_seconds_total (\S+)$", metrics, re.MULTILINE)
    return float(seconds)


def print_row(words: str, server: str, connections: int, result: dict[str, float]) -> None:
    """Print the row of a load."""
    rate = result["requests"] / result["seconds"]
    times = f"{result['p50_ms']:.1f} | {result['p99_ms']:.1f} | {1e3 * result['cpu'] / result['requests']:.1f}"
    print(
        f"| {words} | {server} | {connections} | {rate:,.0f} | {times} | {result['requests']:,} | {result['failed']} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
