"""`bitcipher shard` against datatrove: archives → clean document shards, by the same rules in the same order.

Language identification is left out on both sides, because datatrove's model must be downloaded. No duplicates are
searched.
"""

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from compare_build import BITCIPHER
from measure import HERE, Cost, run, run_script, scratch
from ratios import Ratio

# Inputs, with the number of documents as a share of `--documents`. Pages are long, so there are fewer.
INPUTS = {"wet": 1.0, "c4": 1.0, "warc": 0.15}
TITLES = {"wet": "WET", "c4": "C4", "warc": "WARC, our extraction against Trafilatura"}

WARM_UP_DOCUMENTS = 50

RECIPE = """
rules:
  - rule: gopher_repetition
  - rule: gopher_quality
  - {{rule: c4, require_terminal_punctuation: {require_terminal_punctuation}}}
  - rule: fineweb
duplicates: {{documents: false, near: null}}
"""


class ShardRun(NamedTuple):
    """Cost and number of kept documents of one run."""

    cost: Cost
    kept: int


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU seconds, documents per CPU second, peak memory, and the number of kept documents."""
    with scratch() as folder:
        for format, share in INPUTS.items():
            documents = max(1, int(options.documents * share))
            make_archives(format, documents, folder / format, options.web)
            ours, theirs = [], []
            run_ours(format, make_warm_up(format, folder, options.web), folder)  # fills numba's cache
            for _ in range(options.runs):
                ours.append(run_ours(format, folder / format, folder))
                theirs.append(run_theirs(format, folder / format, folder, options.datatrove))
            yield from _compare(TITLES[format], documents, ours, theirs)


def make_archives(format: str, documents: int, target: Path, data: list[Path]) -> None:
    """Generate archives with a number of documents."""
    run_script(
        "make_archives.py", "--format", format, "--records", documents, "--out", target, "--data", *data,
        folder=target.parent,
    )  # fmt: skip


def make_warm_up(format: str, folder: Path, data: list[Path]) -> Path:
    """Generate a small archive, and return its folder."""
    target = folder / f"warm-up-{format}"
    make_archives(format, WARM_UP_DOCUMENTS, target, data)
    return target


def run_ours(format: str, archives: Path, folder: Path) -> ShardRun:
    """Clean archives with bitcipher, in one process."""
    recipe, out = folder / "recipe.yaml", folder / "ours"
    recipe.write_text(RECIPE.format(require_terminal_punctuation=str(format != "warc").lower()))
    cost = run([*BITCIPHER, "shard", archives, "--recipe", recipe, "--out", out], HERE.parent.parent)
    manifest = json.loads((out / "manifests" / "000001.json").read_text())
    shutil.rmtree(out)
    return ShardRun(cost, manifest["accounts"]["kept"])


def run_theirs(format: str, archives: Path, folder: Path, python: Path) -> ShardRun:
    """Clean archives with datatrove, in one process; its extractor runs in a child."""
    work = folder / "theirs"
    cost = run([python, HERE / "shard_datatrove.py", format, archives, work], folder)
    shutil.rmtree(work)
    return ShardRun(cost, int(cost.output.split()[-1]))


def _compare(title: str, documents: int, ours: list[ShardRun], theirs: list[ShardRun]) -> Iterator[Ratio]:
    cpu = [[each.cost.cpu for each in side] for side in (ours, theirs)]
    yield Ratio(f"shard, {title}: CPU, against datatrove", *cpu, "s")
    speed = [[documents / seconds for seconds in side] for side in cpu]
    yield Ratio(f"shard, {title}: documents per CPU second (higher is better)", *speed, "")
    yield Ratio(f"shard, {title}: peak memory", *([each.cost.peak for each in side] for side in (ours, theirs)), "B")
    kept = [[each.kept for each in side] for side in (ours, theirs)]
    yield Ratio(f"shard, {title}: kept of {documents:,} documents", *kept, "")
    difference = [abs(mine - other) for mine, other in zip(*kept, strict=True)]
    yield Ratio(f"shard, {title}: difference of the kept documents, of all", difference, [documents] * len(ours), "")
