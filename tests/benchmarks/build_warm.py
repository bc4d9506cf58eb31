"""Build on a warm runtime, and print the cost without start-up as JSON.

build_warm.py WORKERS CORPUS

CPU seconds are those of this process and its descendants, which include Ray's processes and the workers. A small build
is made first, so that libraries are loaded in all processes. With 0 workers, the build runs in this process.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from measure import report_of
from process_tree import cpu_seconds

from pipelines.builds.build import build
from pipelines.options import BuildOptions
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from pipelines.store.manifest import read_manifest

SHARD_MEGABYTES = 16  # small, so that a corpus of 100 MB has several tasks per worker
WARM_UP_FILES = 8


def measured_build(sources: list[str], target: Path, shard_mib: int, runtime: Runtime) -> dict[str, object]:
    """Make a build, and return its cost."""
    before = cpu_seconds(os.getpid())
    with StageProgress() as progress:
        build(
            sources,
            str(target),
            BuildOptions(mode="cat", shard_mib=shard_mib),
            runtime,
            progress,
        )
    cpu = cpu_seconds(os.getpid()) - before
    report = report_of(target)
    return {
        "cpu": cpu,
        "seconds": report["seconds"],
        "worker_seconds": sum(stage["seconds"] for stage in report["stages"].values()),
        "digests": read_manifest(str(target)).digests.to_dict(),
    }


def main(workers: int, corpus: str) -> None:
    """Make a small build, then measure that of the corpus."""
    few = [str(file) for file in sorted(Path(corpus).iterdir())[:WARM_UP_FILES]]
    memory = BuildOptions().memory_mib << 20
    with tempfile.TemporaryDirectory(dir=".") as folder, open_runtime(workers, memory) as runtime:
        measured_build(few, Path(folder, "warm-up"), 1, runtime)
        print(json.dumps(measured_build([corpus], Path(folder, "build"), SHARD_MEGABYTES, runtime)))


if __name__ == "__main__":
    workers, corpus = sys.argv[1:]
    main(int(workers), corpus)
