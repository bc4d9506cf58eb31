"""Vectors with other options from stored counts, against a whole build."""

import argparse
import shutil
from collections.abc import Iterator

from compare_build import BITCIPHER, IN_PROCESS
from measure import Cost, run, scratch
from ratios import Ratio

CHOICES = (("--bits", 50, "--window", 2), ("--noise", "frequency"))


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU for each choice of options."""
    builds: list[Cost] = []
    embeddings: dict[tuple, list[Cost]] = {choice: [] for choice in CHOICES}
    with scratch() as folder:
        build, vectors = folder / "build", folder / "vectors"
        command = [*BITCIPHER, "build", "--mode", "cat", *options.data, "--out", build, *IN_PROCESS]
        run(command, folder)  # fills numba's cache
        for _ in range(options.runs):
            shutil.rmtree(build)
            builds.append(run(command, folder))
            for choice in CHOICES:
                embeddings[choice].append(run([*BITCIPHER, "embed", build, "--out", vectors, *choice], folder))
                shutil.rmtree(vectors)
    for choice in CHOICES:
        name = f"embed {' '.join(map(str, choice))}: CPU, against the whole build"
        cpu = ([cost.cpu for cost in costs] for costs in (embeddings[choice], builds))
        yield Ratio(name, *cpu, "s", "1/12")
