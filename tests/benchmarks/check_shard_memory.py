"""Measure the peak memory of `bitcipher shard` on generated WARC files of several sizes. It must not grow.

    python tests/benchmarks/check_shard_memory.py --gigabytes 0.5 1 2 10 \
        --data ../shared/data/{web_html,commoncrawl,commoncrawl2,c4,c4_2,enwiki}

Prints a Markdown table; progress goes to stderr. Needs about 0.4 of the size on disk. With --workers, the memory is
that of all processes of Ray. See README.md.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from compare_build import BITCIPHER
from measure import require_space, run_script, scratch
from sampled_run import run_sampled

# Compressed bytes of archives and document shards per uncompressed byte.
DISK_SHARE = 0.4

HEADER = "| WARC | pages | files | peak memory | CPU | wall | kept |\n|---|---|---|---|---|---|---|"


def main() -> None:
    """Measure all sizes, in increasing order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.5, 1, 2, 10], help="uncompressed sizes in GB")
    parser.add_argument("--file-megabytes", type=float, default=256, help="uncompressed MB per WARC file")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders of pages, archives and texts")
    parser.add_argument("--recipe", default="commoncrawl-warc", help="recipe of bitcipher shard")
    parser.add_argument("--workers", type=int, default=0, help="workers on Ray; 0 is in process")
    options = parser.parse_args()
    options.data = [data.resolve() for data in options.data]
    print(HEADER, flush=True)
    peaks = [measure_size(gigabytes, options) for gigabytes in sorted(options.gigabytes)]
    growth = peaks[-1] / peaks[0]
    print(f"\nThe largest input takes {growth:.2f} times the memory of the smallest.")


def measure_size(gigabytes: float, options: argparse.Namespace) -> int:
    """Generate archives, clean them, print a row, and return the peak memory in bytes."""
    with scratch() as folder:
        require_space(folder, int(gigabytes * 1e9 * DISK_SHARE))
        arguments = ["--gigabytes", gigabytes, "--file-megabytes", options.file_megabytes]
        archives = ["make_archives.py", "--format", "warc", *arguments, "--out", folder / "archives", "--data"]
        size = json.loads(run_script(*archives, *options.data, folder=folder).output)
        out = folder / "documents"
        command = [*BITCIPHER, "shard", folder / "archives", "--recipe", options.recipe, "--out", out]
        done = 0

        def report(seconds: float, now: int, peak: int) -> None:
            nonlocal done
            finished = sum(1 for _ in _iter_entries(out))
            if finished > done:
                done = finished
                _print_progress(done, size["files"], seconds, now, peak)

        cost = run_sampled([*command, "--workers", options.workers], on_sample=report)
        accounts = json.loads((out / "manifests" / "000001.json").read_text())["accounts"]
        shutil.rmtree(out)
    cells = [
        f"{gigabytes:g} GB",
        f"{size['records']:,}",
        str(size["files"]),
        f"{cost.peak / 1e6:,.0f} MB",
        f"{cost.cpu:,.0f} s",
        f"{cost.seconds:,.0f} s",
        f"{accounts['kept']:,}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)
    return cost.peak


def _iter_entries(out: Path) -> Iterator[Path]:
    """Yield the ledger entries of cleaned tasks. A task is one file if the file has the text of a shard."""
    return (out / "ledger" / "clean").glob("*.json")


def _print_progress(done: int, files: int, seconds: float, now: int, peak: int) -> None:
    text = f"{done} of at most {files} files, {seconds:,.0f} s, {now / 1e6:,.0f} MB, peak {peak / 1e6:,.0f} MB"
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
