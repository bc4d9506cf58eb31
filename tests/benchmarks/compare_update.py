"""The first and the tenth update by a hundredth of the corpus, against a build of the whole corpus."""

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from compare_build import BITCIPHER
from measure import Cost, report_of, run, run_script, scratch
from ratios import Ratio

# Number of updates, of which the last one is measured. Each adds one of the 100 files.
UPDATES = {"update by 1 %": 1, "the tenth update by 1 %": 10}


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU of the whole process, and of the stages without the start of Python."""
    with scratch() as folder:
        corpus, whole, target = (folder / name for name in ("corpus", "whole", "updated"))
        run_script("prepare.py", "files", corpus, *options.data, folder=folder)
        files = sorted(corpus.iterdir())
        run([*BITCIPHER, "build", "--mode", "cat", corpus, "--out", whole], folder)  # fills numba's cache
        bases = {name: _grow(folder / str(number), files, number - 1) for name, number in UPDATES.items()}
        costs: dict[str, list[Cost]] = {name: [] for name in ("build", *UPDATES)}
        stages: dict[str, list[float]] = {name: [] for name in costs}
        for _ in range(options.runs):
            shutil.rmtree(whole)
            costs["build"].append(run([*BITCIPHER, "build", "--mode", "cat", corpus, "--out", whole], folder))
            stages["build"].append(_stage_seconds(whole))
            for name, base in bases.items():
                shutil.copytree(base, target)
                costs[name].append(run([*BITCIPHER, "update", target, corpus], folder))
                stages[name].append(_stage_seconds(target))
                if _digests(target) != _digests(whole):
                    raise SystemExit(f"After {name}, the result differs from that of the whole build.")
                shutil.rmtree(target)
    for name in UPDATES:
        cpu = ([cost.cpu for cost in costs[side]] for side in (name, "build"))
        yield Ratio(f"{name}: CPU, against the whole build", *cpu, "s", "1/20", "1/33")
        yield Ratio(
            f"{name}: CPU without start-up, against the whole build", stages[name], stages["build"], "s", "1/20", "1/33"
        )


def _grow(build: Path, files: list[Path], updates: int) -> Path:
    """Make a build, and add files by a number of updates, up to the last file but one."""
    first = len(files) - 1 - updates
    run([*BITCIPHER, "build", "--mode", "cat", *files[:first], "--out", build], build.parent)
    for number in range(first, len(files) - 1):
        run([*BITCIPHER, "update", build, *files[: number + 1]], build.parent)
    return build


def _stage_seconds(build: Path) -> float:
    return sum(stage["cpu_seconds"] for stage in report_of(build)["stages"].values())


def _digests(build: Path) -> dict[str, str]:
    return json.loads(max((build / "versions").glob("*.json")).read_text())["digests"]
