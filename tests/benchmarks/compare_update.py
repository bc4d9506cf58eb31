"""The first and the tenth update by a hundredth of the corpus, by kind, against a build of the whole corpus."""

import argparse
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compare_build import BITCIPHER, IN_PROCESS
from measure import Cost, report_of, run, run_script, scratch
from ratios import Ratio

# Number of updates, of which the last one is measured. Each adds one of the 100 files.
UPDATES = {"update by 1 %": 1, "the tenth update by 1 %": 10}


@dataclass(frozen=True)
class Kind:
    """A kind of update.

    Attributes:
        name: what the update makes.
        mode: mode of the build.
        options: options of the update.
        goal: required share of the CPU time of the whole build.
        same: names of the digests that are those of the whole build.
    """

    name: str
    mode: str
    options: tuple[str, ...]
    goal: str
    same: tuple[str, ...]


# On kept axes, vectors differ from those of a new build.
KINDS = (
    Kind("counts alone", "cat", ("--vectors", "later"), "1/20", ("words", "counts")),
    Kind("cat", "cat", (), "1/20", ("words", "counts", "vectors")),
    Kind("spectral on kept axes", "spectral", ("--basis", "keep"), "1/6.7", ("words", "counts")),
)


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU of the whole process, and of the stages without the start of Python."""
    with scratch() as folder:
        corpus = folder / "corpus"
        run_script("prepare.py", "files", corpus, *options.data, folder=folder)
        for mode in dict.fromkeys(kind.mode for kind in KINDS):
            kinds = [kind for kind in KINDS if kind.mode == mode]
            yield from _compare_mode(folder, corpus, mode, kinds, options.runs)


def _compare_mode(folder: Path, corpus: Path, mode: str, kinds: list[Kind], runs: int) -> Iterator[Ratio]:
    """Compare all kinds of updates of builds in a mode."""
    files = sorted(corpus.iterdir())
    whole, target = folder / "whole", folder / "updated"
    build = [*BITCIPHER, "build", "--mode", mode, corpus, "--out", whole, *IN_PROCESS]
    run(build, folder)  # fills numba's cache
    bases = {name: _grow(folder / f"{mode}-{number}", mode, files, number - 1) for name, number in UPDATES.items()}
    cases = {f"{name}, {kind.name}": (bases[name], kind) for name in UPDATES for kind in kinds}
    costs: dict[str, list[Cost]] = {name: [] for name in ("build", *cases)}
    stages: dict[str, list[float]] = {name: [] for name in costs}
    for _ in range(runs):
        shutil.rmtree(whole)
        costs["build"].append(run(build, folder))
        stages["build"].append(_stage_seconds(whole))
        for name, (base, kind) in cases.items():
            shutil.copytree(base, target)
            costs[name].append(run([*BITCIPHER, "update", target, corpus, *kind.options, *IN_PROCESS], folder))
            stages[name].append(_stage_seconds(target))
            for digest in kind.same:
                if _digests(target)[digest] != _digests(whole)[digest]:
                    raise SystemExit(f"After {name}, the {digest} differ from those of the whole build.")
            shutil.rmtree(target)
    for build_folder in (whole, *bases.values()):
        shutil.rmtree(build_folder)
    for name, (_, kind) in cases.items():
        cpu = ([cost.cpu for cost in costs[side]] for side in (name, "build"))
        yield Ratio(f"{name}: CPU, against the whole build", *cpu, "s", kind.goal)
        seconds = (stages[name], stages["build"])
        yield Ratio(f"{name}: CPU without start-up, against the whole build", *seconds, "s", kind.goal)


def _grow(build: Path, mode: str, files: list[Path], updates: int) -> Path:
    """Make a build, and add files by a number of updates, up to the last file but one."""
    first = len(files) - 1 - updates
    run([*BITCIPHER, "build", "--mode", mode, *files[:first], "--out", build, *IN_PROCESS], build.parent)
    for number in range(first, len(files) - 1):
        run([*BITCIPHER, "update", build, *files[: number + 1], *IN_PROCESS], build.parent)
    return build


def _stage_seconds(build: Path) -> float:
    return sum(stage["cpu_seconds"] for stage in report_of(build)["stages"].values())


def _digests(build: Path) -> dict[str, str]:
    return json.loads(max((build / "versions").glob("*.json")).read_text())["digests"]
