"""Clean archives on a warm runtime, and print the wall seconds without start-up as JSON.

shard_warm.py WORKERS RECIPE WARM_UP ARCHIVES

The archives of WARM_UP are cleaned first, so that libraries are loaded. CPU seconds are not measured, because those of
actors that have ended are not those of a descendant of this process.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from pipelines.ingest.recipes import read_recipe
from pipelines.runtime.grouping import GroupingRuntime
from pipelines.runtime.open_runtime import open_grouping_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.shard.options import RECIPES, ShardOptions
from pipelines.shard.shard_corpus import shard_corpus

SHARD_MEBIBYTES = 8  # small, so that a worker has several tasks


def measured_shard(archives: str, out: Path, options: ShardOptions, runtime: GroupingRuntime) -> dict[str, object]:
    """Clean archives, and return the wall seconds and the result."""
    started = time.perf_counter()
    with StageProgress() as progress:
        manifest = shard_corpus([archives], str(out), options, runtime, progress).manifest
    return {
        "seconds": time.perf_counter() - started,
        "documents": manifest.accounts.kept,
        "digest": manifest.tables.files.sha256,
    }


def main(workers: str, recipe: str, warm_up: str, archives: str) -> None:
    """Clean a small input, then measure the whole one."""
    values, _ = read_recipe(recipe, RECIPES, ShardOptions)
    options = ShardOptions.parse({**values, "shard_mib": SHARD_MEBIBYTES}, recipe)
    runtime = open_grouping_runtime(int(workers), options.memory_mib << 20)
    with tempfile.TemporaryDirectory(dir=".") as folder, runtime as opened:
        measured_shard(warm_up, Path(folder, "warm-up"), options, opened)
        print(json.dumps(measured_shard(archives, Path(folder, "documents"), options, opened)))


if __name__ == "__main__":
    main(*sys.argv[1:])
