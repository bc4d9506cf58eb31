"""Peak memory of counting and merging against the budget, for small and large shards and one long document."""

import argparse
from collections.abc import Iterator

from compare_build import BITCIPHER
from measure import run, run_script, scratch
from ratios import Ratio

BUDGETS = (1000, 1500)  # MiB
SHARDS = (64, 640)  # MiB
GOAL = "1.1"


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Measure each budget once, since peaks hardly differ between runs."""
    with scratch() as folder:
        text = folder / "text.txt"
        run_script("prepare.py", "long", text, options.long_megabytes, *options.data, folder=folder)
        # Fills numba's cache, because compiling needs memory.
        run([*BITCIPHER, "build", "--mode", "cat", *options.data, "--out", folder / "warm-up"], folder)
        for budget in BUDGETS:
            for shard in SHARDS:
                build = folder / f"{budget}-{shard}"
                count = run_script("run_stage.py", "count", build, budget, shard, "line", text, folder=folder)
                yield _figure(f"counting shards of {shard} MiB", count.peak, budget)
            build = folder / f"{budget}-{SHARDS[0]}"
            merge = run_script("run_stage.py", "merge", build, budget, folder=folder)
            yield _figure(f"merging shards of {SHARDS[0]} MiB", merge.peak, budget)
            build = folder / f"{budget}-document"
            count = run_script("run_stage.py", "count", build, budget, SHARDS[0], "file", text, folder=folder)
            yield _figure(f"counting one document of {int(count.output) / 1e6:,.0f} million tokens", count.peak, budget)


def _figure(name: str, peak: int, budget: int) -> Ratio:
    return Ratio(f"{name}: peak memory, against a budget of {budget} MiB", [peak], [budget << 20], "B", GOAL)
