"""`bitcipher shard` on Ray Data with two workers against one worker, and one worker against in process."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import run_script, scratch
from ratios import Ratio

RECIPE = "commoncrawl-warc"

# Small files, so that a worker has many tasks.
FILE_MEGABYTES = 32
WARM_UP_SHARE = 1 / 60
WARM_UP_FILES = 8

WORKERS = (0, 1, 2)


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare wall seconds without start-up.

    Raises:
        SystemExit: if the document shards depend on the number of workers.
    """
    runs: dict[int, list[dict[str, Any]]] = {workers: [] for workers in WORKERS}
    with scratch() as folder:
        warm_up, archives = folder / "warm-up", folder / "archives"
        few = options.gigabytes * WARM_UP_SHARE
        _make_archives(warm_up, few, 1000 * few / WARM_UP_FILES, options.web)
        _make_archives(archives, options.gigabytes, FILE_MEGABYTES, options.web)
        for _ in range(options.runs):
            for workers in WORKERS:
                output = run_script("shard_warm.py", workers, RECIPE, warm_up, archives, folder=folder).output
                runs[workers].append(json.loads(output))
                if runs[workers][-1]["digest"] != runs[0][0]["digest"]:
                    raise SystemExit(f"With {workers} workers, the document shards differ from those made in process.")
    seconds = {workers: [run["seconds"] for run in runs[workers]] for workers in WORKERS}
    name = f"shard on Ray, {options.gigabytes:g} GB of WARC"
    yield Ratio(f"{name}, 2 workers: wall, against 1 worker", seconds[2], seconds[1], "s", "1/1.7")
    yield Ratio(f"{name}, 1 worker: wall, against in process", seconds[1], seconds[0], "s")


def _make_archives(target: Path, gigabytes: float, file_megabytes: float, data: list[Path]) -> None:
    size = ["--gigabytes", gigabytes, "--file-megabytes", file_megabytes]
    run_script("make_archives.py", "--format", "warc", *size, "--out", target, "--data", *data, folder=target.parent)
