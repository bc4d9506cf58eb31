"""Workers, nodes and drivers of a real cluster are killed at random. The results equal those of undisturbed jobs."""

import functools
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from builds import FRESH, OPTIONS, describe, digests, run_build
from commands import Command, recorded_shards, unreferenced_files
from long_files import LongFiles
from ray_nodes import RayNodes

from bitcipher.versions import versions
from pipelines.store.stored_versions import StoredVersions

pytestmark = pytest.mark.ray

WORKERS = 4
FAST = OPTIONS.derive({"tokenizer": "spacy"})
RUNTIME_OPTIONS = ("--workers", WORKERS, "--memory-mib", FAST.memory_mib)
# Words are added up in many ranges: of about 2,000 words for 10 files, and larger ones for more files, because each
# range reads all of them.
MANY_RANGES = "from pipelines.runtime import memory_budget; memory_budget.BYTES_PER_SUMMED_WORD = {}"
BYTES_OF_ALL_FILES = 1_300_000
# Maximum number of counted shards or merged ranges before the next fault of a kind. If workers died faster than they
# start, no job would ever finish.
PROGRESS = {"worker": 2, "node": 6, "driver": 40}
# Maximum pause after that progress, in seconds.
PAUSE_SECONDS = 1.0


@pytest.fixture(scope="module")
def reference_builds(long_files: LongFiles, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Return a function that maps a number of files to a directory with two builds made in process.

    `whole` contains all these files, and `part` a quarter of them.
    """

    @functools.cache
    def make(count: int) -> Path:
        folder = tmp_path_factory.mktemp(f"reference{count}")
        run_build(long_files.first(count // 4), folder / "part", FAST)
        run_build(long_files.first(count), folder / "whole", FAST)
        return folder

    return make


class FaultyJobs:
    """Alternating builds and updates, each restarted until it succeeds despite the faults.

    Args:
        nodes: the cluster.
        files: the sources.
        reference_builds: builds to compare with and to update; see the fixture.
        folder: an empty directory.
    """

    def __init__(self, nodes: RayNodes, files: list[Path], reference_builds: Path, folder: Path):
        self._nodes = nodes
        self._files = files
        self._reference_builds = reference_builds
        self._folder = folder
        self._random = random.Random(9)
        self._reference = describe(StoredVersions(str(reference_builds / "whole")).find())
        self._digests = digests(reference_builds / "whole")
        self.measurements: Counter[str] = Counter()

    def run(self, faults: list[str]) -> None:
        """Run jobs until all faults have occurred."""
        pending = list(faults)
        number = 0
        while pending:
            number += 1
            self._run_one(self._folder / f"job{number}", pending, is_update=number % 2 == 0)
        self.measurements["jobs"] = number

    def _run_one(self, build: Path, faults: list[str], *, is_update: bool) -> None:
        if is_update:
            shutil.copytree(self._reference_builds / "part", build)
        recorded: dict[str, list[str]] = {}
        attempts = 0
        while True:
            attempts += 1
            log = build.with_name(f"{build.name}-{attempts}.log")
            build_options = ("--tokenizer", FAST.tokenizer, "--shard-mib", FAST.shard_mib)
            build_options += ("--vector-size", FAST.vector_size)
            # A build that was killed right after publishing already has a version.
            arguments = ("update", build, *FRESH) if versions(str(build)) else ("build", "--out", build, *build_options)
            command = Command(
                *arguments,
                *self._files,
                *RUNTIME_OPTIONS,
                log=log,
                before=MANY_RANGES.format(BYTES_OF_ALL_FILES // len(self._files)),
                RAY_ADDRESS=self._nodes.address,
            )
            was_killed = self._inject_faults(command, build, faults, recorded)
            code = command.wait()
            self.measurements["repeated"] += len(command.events("worker died"))
            if not was_killed:
                break
        assert code == 0, command.error_output()
        manifest = describe(StoredVersions(str(build)).find())
        assert manifest["digests"] == self._reference["digests"]
        assert digests(build) == self._digests
        for count in ("tokens", "documents", "text_bytes"):
            assert manifest[count] == self._reference[count]
        assert unreferenced_files(build) == set()
        # Shards recorded in the ledger were published unchanged: no finished shard was counted again.
        published = {shard["name"]: shard["parts"] for shard in manifest["shards"]}
        assert recorded.items() <= published.items()
        self.measurements["shards kept after a fault"] += len(recorded)
        self.measurements["shards"] += len(published)

    def _inject_faults(self, command: Command, build: Path, faults: list[str], recorded: dict[str, list[str]]) -> bool:
        """Inject faults while a command runs; return whether the command itself was killed."""
        command.wait_for_lease(build)
        while faults:
            threshold = progress(command) + self._random.randint(1, min(PROGRESS[faults[0]], len(self._files)))
            while command.is_running and progress(command) < threshold:
                time.sleep(0.05)
            time.sleep(self._random.uniform(0, PAUSE_SECONDS))
            if not command.is_running:
                return False
            busy = [worker for worker in self._nodes.workers() if worker.is_busy]
            if not busy and faults[0] != "driver":
                continue
            recorded |= recorded_shards(build)
            kind = faults.pop(0)
            self.measurements[kind] += 1
            if kind == "driver":
                command.kill()
                hit = busy
            else:
                hit = (self._nodes.kill_worker if kind == "worker" else self._nodes.replace_node)(self._random)
            running = sum(worker.is_busy for worker in hit)
            self.measurements["hits"] += running > 0
            self.measurements["in flight"] += running
            if kind == "driver":
                return True
        return False


def progress(command: Command) -> int:
    """Return the number of counted shards and merged ranges."""
    return len(command.events("counted")) + len(command.events("merged"))


FEW_FAULTS = ["worker", "node", "worker", "driver"]


@pytest.mark.parametrize(
    ("faults", "files"),
    [
        pytest.param(FEW_FAULTS, 10, id="few", marks=pytest.mark.long),
        pytest.param(["worker"] * 50, 60, id="50 workers", marks=pytest.mark.slow),
        pytest.param(["node"] * 10, 60, id="10 nodes", marks=pytest.mark.slow),
        pytest.param(["driver"] * 10, 60, id="10 drivers", marks=pytest.mark.slow),
    ],
)
def test_no_work_is_lost_or_counted_twice(
    nodes, long_files, reference_builds, tmp_path, print_measurement, faults, files
):
    jobs = FaultyJobs(nodes, long_files.first(files), reference_builds(files), tmp_path)
    jobs.run(list(faults))
    measurements = jobs.measurements
    print_measurement(", ".join(f"{name} {number}" for name, number in sorted(measurements.items())))
    assert sum(measurements[kind] for kind in PROGRESS) == len(faults)
    assert measurements["hits"] >= len(faults) / 2
    # A node has one CPU, so the death of a worker or a node repeats at most one input. After the death of a driver,
    # recorded work is not repeated (asserted above), so only inputs in flight are lost.
    assert measurements["repeated"] <= measurements["worker"] + measurements["node"]
