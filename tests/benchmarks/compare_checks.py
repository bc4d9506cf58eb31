"""A build and an update with all checks of stored files, against the same commands without them."""

import argparse
import shutil
from collections.abc import Iterator

from compare_build import BITCIPHER
from measure import HERE, Cost, run, run_script, scratch
from ratios import Ratio

# Builds that are merged: of small shards, so that there are segments to merge.
BUILD = ("--mode", "spectral", "--shard-mib", "8")
UNCHECKED = [BITCIPHER[0], HERE / "unchecked_command.py"]


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU of the whole process."""
    with scratch() as folder:
        corpus, base, target = (folder / name for name in ("corpus", "base", "target"))
        run_script("prepare.py", "files", corpus, *options.data, folder=folder)
        files = sorted(corpus.iterdir())
        run([*BITCIPHER, "build", *BUILD, *files[:-1], "--out", base], folder)  # fills numba's cache
        costs: dict[str, list[Cost]] = {name: [] for name in ("build", "build without", "update", "update without")}
        for number in range(options.runs):
            sides = [("", BITCIPHER), (" without", UNCHECKED)]
            for name, command in sides if number % 2 else reversed(sides):
                costs[f"build{name}"].append(run([*command, "build", *BUILD, corpus, "--out", target], folder))
                shutil.rmtree(target)
                shutil.copytree(base, target)
                costs[f"update{name}"].append(run([*command, "update", target, corpus], folder))
                shutil.rmtree(target)
    for name in ("build", "update"):
        cpu = ([cost.cpu for cost in costs[side]] for side in (name, f"{name} without"))
        yield Ratio(f"{name} with checks: CPU, against the same without checks", *cpu, "s", "1.05")
