"""Workers, nodes and drivers of a real cluster die at random moments; the results equal those of undisturbed jobs."""

import functools
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from builds import OPTIONS, digests, run_build
from commands import Command, left_over, recorded_shards
from ray_nodes import RayNodes

from bitcipher.versions import versions
from pipelines.store.manifest import read_manifest

WORKERS = 4
FAST = OPTIONS.derive({"tokenizer": "spacy"}, "test")
CHOSEN = ("--workers", WORKERS, "--memory-mib", FAST.memory_mib)
# Maximum number of counted shards or merged ranges before the next fault of a kind. If workers died faster than they
# start, no job would ever finish.
PROGRESS = {"worker": 2, "node": 6, "driver": 40}
# Maximum pause after that progress, in seconds.
PAUSE_SECONDS = 1.0


@pytest.fixture(scope="module")
def started(long_files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Return a function that maps a number of files to a directory with two builds made in process.

    `whole` contains all these files, and `part` a quarter of them.
    """

    @functools.cache
    def start(count: int) -> Path:
        place = tmp_path_factory.mktemp(f"started{count}")
        run_build(long_files[: count // 4], place / "part", FAST)
        run_build(long_files[:count], place / "whole", FAST)
        return place

    return start


class Jobs:
    """Alternating builds and updates, each restarted until it succeeds despite the faults.

    Args:
        nodes: the cluster.
        files: the sources.
        started: builds to compare with and to update; see the fixture.
        place: an empty directory.
    """

    def __init__(self, nodes: RayNodes, files: list[Path], started: Path, place: Path):
        self._nodes = nodes
        self._files = files
        self._started = started
        self._place = place
        self._random = random.Random(9)
        self._reference = read_manifest(str(started / "whole")).to_dict()
        self._digests = digests(started / "whole")
        self.figures: Counter[str] = Counter()

    def run(self, faults: list[str]) -> None:
        """Run jobs until all faults have occurred."""
        waiting = list(faults)
        number = 0
        while waiting:
            number += 1
            self._run_one(self._place / f"job{number}", waiting, is_update=number % 2 == 0)
        self.figures["jobs"] = number

    def _run_one(self, build: Path, faults: list[str], *, is_update: bool) -> None:
        if is_update:
            shutil.copytree(self._started / "part", build)
        recorded: dict[str, list[str]] = {}
        tries = 0
        while True:
            tries += 1
            log = build.with_name(f"{build.name}-{tries}.log")
            chosen = ("--tokenizer", FAST.tokenizer, "--shard-mib", FAST.shard_mib)
            # A build that was killed right after publishing already has a version.
            arguments = ("update", build) if versions(str(build)) else ("build", "--out", build, *chosen)
            command = Command(*arguments, *self._files, *CHOSEN, log=log, RAY_ADDRESS=self._nodes.address)
            was_killed = self._strike(command, build, faults, recorded)
            code = command.wait()
            self.figures["redone"] += len(command.events("worker died"))
            if not was_killed:
                break
        assert code == 0, command.said()
        manifest = read_manifest(str(build)).to_dict()
        assert manifest["digests"] == self._reference["digests"]
        assert digests(build) == self._digests
        for count in ("tokens", "documents", "text_bytes"):
            assert manifest[count] == self._reference[count]
        assert left_over(build) == set()
        # Shards recorded in the ledger were published unchanged: no finished shard was counted again.
        published = {shard["name"]: shard["parts"] for shard in manifest["shards"]}
        assert recorded.items() <= published.items()
        self.figures["shards kept over a fault"] += len(recorded)
        self.figures["shards"] += len(published)

    def _strike(self, command: Command, build: Path, faults: list[str], recorded: dict[str, list[str]]) -> bool:
        """Inject faults while a command runs; return whether the command itself was killed."""
        command.wait_for_work(build)
        while faults:
            enough = progress(command) + self._random.randint(1, min(PROGRESS[faults[0]], len(self._files)))
            while command.is_running and progress(command) < enough:
                time.sleep(0.05)
            time.sleep(self._random.uniform(0, PAUSE_SECONDS))
            if not command.is_running:
                return False
            at_work = [worker for worker in self._nodes.workers() if worker.is_at_work]
            if not at_work and faults[0] != "driver":
                continue
            recorded |= recorded_shards(build)
            kind = faults.pop(0)
            self.figures[kind] += 1
            if kind == "driver":
                command.kill()
                struck = at_work
            else:
                struck = (self._nodes.kill_worker if kind == "worker" else self._nodes.replace_node)(self._random)
            running = sum(worker.is_at_work for worker in struck)
            self.figures["hits"] += running > 0
            self.figures["in flight"] += running
            if kind == "driver":
                return True
        return False


def progress(command: Command) -> int:
    """Return the number of counted shards and merged ranges."""
    return len(command.events("counted")) + len(command.events("merged"))


SOME = ["worker", "worker", "node", "worker", "driver"]


@pytest.mark.parametrize(
    ("faults", "files"),
    [
        pytest.param(SOME, 10, id="some", marks=pytest.mark.long),
        pytest.param(["worker"] * 50, 60, id="50 workers", marks=pytest.mark.slow),
        pytest.param(["node"] * 10, 60, id="10 nodes", marks=pytest.mark.slow),
        pytest.param(["driver"] * 10, 60, id="10 drivers", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_lost_or_double(nodes, long_files, started, tmp_path, tell, faults, files):
    jobs = Jobs(nodes, long_files[:files], started(files), tmp_path)
    jobs.run(list(faults))
    figures = jobs.figures
    tell(", ".join(f"{name} {number}" for name, number in sorted(figures.items())))
    assert sum(figures[kind] for kind in PROGRESS) == len(faults)
    assert figures["hits"] >= len(faults) / 2
    # A node has one CPU, so the death of a worker or a node repeats at most one input. After the death of a driver,
    # recorded work is not repeated (asserted above), so only inputs in flight are lost.
    assert figures["redone"] <= figures["worker"] + figures["node"]
