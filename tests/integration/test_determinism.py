"""Equal documents give equal bytes, for any partition into files, any number of workers, and after any interruption.

The whole matrix takes some minutes: pytest -m slow tests/integration/test_determinism.py
"""

import gzip
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from builds import OPTIONS, Digests, digests, run_build, run_update, write_lines

from bitcipher.files import storage
from bitcipher.versions import versions
from pipelines.runtime.open_runtime import open_runtime
from pipelines.store.stored_versions import StoredVersions

ORDERS = range(20)
WORKERS = (0, 1, 2, 4)
PROCEDURES = ("one build", "killed", "updated")
# Approximate number of files in a build directory before it is published.
FILES = 36
MATRIX = list(itertools.product(ORDERS, WORKERS, PROCEDURES))
SAMPLE = [(0, 0, "updated"), (1, 2, "one build"), (2, 4, "updated"), (3, 0, "killed")]


@pytest.fixture(scope="module")
def texts(documents):
    """Texts for about four shards of 1 MB: each document twice, with its words in different orders."""
    chosen = random.Random(3)
    return [" ".join(chosen.sample(words, len(words))) for words in map(str.split, documents) for _ in range(2)]


def write_files(texts: list[str], order: int, folder: Path) -> list[Path]:
    """Write the documents in shuffled order to files whose number, sizes, formats and names also depend on `order`."""
    chosen = random.Random(order)
    texts = chosen.sample(texts, len(texts))
    bounds = [0, *sorted(chosen.sample(range(1, len(texts)), chosen.randint(3, 24))), len(texts)]
    files = []
    folder.mkdir()
    for first, stop in itertools.pairwise(bounds):
        name = folder / f"{chosen.randrange(10**9)}"
        kind = chosen.choice([".jsonl", ".txt", ".txt.gz"])
        if kind == ".jsonl":
            files.append(write_lines(name.with_suffix(kind), texts[first:stop]))
            continue
        files.append(name.with_suffix(kind))
        content = "\n".join(texts[first:stop]).encode()
        files[-1].write_bytes(gzip.compress(content) if kind == ".txt.gz" else content)
    return chosen.sample(files, len(files))


class MatrixBuilds:
    """Builds of the test matrix.

    Args:
        texts: the documents.
        address: address of the Ray cluster.
        folder: an empty directory.
    """

    def __init__(self, texts: list[str], address: str, folder: Path):
        self._texts = texts
        self._address = address
        self._folder = folder
        self.shards: set[tuple[str, ...]] = set()
        self.kills: Counter[str] = Counter()

    def make(self, order: int, workers: int, procedure: str) -> Digests:
        """Make one build of the matrix and return its digests."""
        folder = self._folder / f"{order}-{workers}-{procedure}"
        files = write_files(self._texts, order, folder)
        build = folder / "build"
        if procedure == "updated":
            # The jobs share their workers, each of which takes seconds of CPU time to start.
            with open_runtime(workers, OPTIONS.memory_mib << 20) as runtime:
                run_build(files[::3], build, runtime=runtime)
                for start in (1, 2):
                    manifest, _ = run_update(build, files[start::3], runtime=runtime)
                    assert manifest["version"] == start + 1
        else:
            if procedure == "killed":
                self._kill(build, files, workers, random.Random(f"{order} {workers}"))
            if not versions(str(build)):
                run_build(files, build, workers=workers)
        version = StoredVersions(str(build)).find()
        assert version.manifest.tokens == sum(len(text.split()) for text in self._texts)
        self.shards.add(tuple(sorted(shard.digest for shard in version.shards)))
        return digests(build)

    def _kill(self, build: Path, files: list[Path], workers: int, chosen: random.Random) -> None:
        """Start the command, and kill it after it has written approximately a random number of files."""
        options = ("--tokenizer", OPTIONS.tokenizer, "--vector-size", OPTIONS.vector_size, "--shard-mib", 1)
        options += ("--memory-mib", OPTIONS.memory_mib)
        arguments = ("build", *files, "--out", build, *options, "--workers", workers)
        process = subprocess.Popen(
            [sys.executable, "-m", "cluster.cli.main", *map(str, arguments)],
            env={**os.environ, "RAY_ADDRESS": self._address},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        enough = chosen.randint(1, FILES)
        while process.poll() is None and len(storage.list_files(str(build))) < enough:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        counted = any("/shard/" in name for name in storage.list_files(str(build)))
        state = "published" if versions(str(build)) else "had counted" if counted else "had not counted"
        self.kills[state] += 1


def check(builds: MatrixBuilds, matrix: list[tuple[int, int, str]]) -> set[Digests]:
    """Assert that all builds have equal digests although their shards differ; return the digests."""
    found = {cell: builds.make(*cell) for cell in matrix}
    orders = {order for order, _, _ in matrix}
    assert set(found.values()) == {found[matrix[0]]}
    assert len(builds.shards) >= len(orders)
    return set(found.values())


@pytest.mark.long
def test_sample_of_the_matrix(ray_cluster, texts, tmp_path):
    check(MatrixBuilds(texts, ray_cluster.cluster, tmp_path), SAMPLE)


@pytest.mark.slow
def test_whole_matrix(ray_cluster, texts, tmp_path, capsys):
    builds = MatrixBuilds(texts, ray_cluster.cluster, tmp_path)
    (same,) = check(builds, MATRIX)
    assert builds.kills["had counted"] > len(ORDERS) * len(WORKERS) / 3
    with capsys.disabled():
        print(f"\n{len(MATRIX)} builds, {len(builds.shards)} partitions into shards, kills: {dict(builds.kills)}")
        print(f"words {same.words}\ncounts {same.counts}\nvectors {same.vectors}")
