"""Build of 200-dimensional vectors from compressed text, against one epoch of gensim's word2vec from tokens."""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator

from measure import run, run_script, scratch
from ratios import Ratio

BITCIPHER = [sys.executable, "-m", "cluster.cli.main"]
# CPU seconds are those of a process and its children, which the workers of Ray are not.
IN_PROCESS = ("--workers", 0)


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU with the training alone and with the whole process, and peak memory."""
    builds, processes, trainings = [], [], []
    with scratch() as folder:
        tokens, build = folder / "tokens.txt", folder / "build"
        run_script("prepare.py", "tokens", tokens, *options.data, folder=folder)
        command = [*BITCIPHER, "build", "--mode", "cat", *options.data, "--out", build, *IN_PROCESS]
        run(command, folder)  # fills numba's cache
        for _ in range(options.runs):
            shutil.rmtree(build)
            builds.append(run(command, folder))
            processes.append(run_script("train_word2vec.py", tokens, folder=folder))
            trainings.append(json.loads(processes[-1].output))
    cpu = [cost.cpu for cost in builds]
    name = "build from text.gz"
    training = [seconds["train"] for seconds in trainings]
    scanning = [seconds["scan"] + seconds["train"] for seconds in trainings]
    whole = [cost.cpu for cost in processes]
    yield Ratio(f"{name}: CPU, against the training of word2vec from tokens", cpu, training, "s", "1/10")
    yield Ratio(f"{name}: CPU, against vocabulary scan and training", cpu, scanning, "s")
    yield Ratio(f"{name}: CPU, against the whole process", cpu, whole, "s")
    peaks = ([cost.peak for cost in costs] for costs in (builds, processes))
    yield Ratio(f"{name}: peak memory, against the whole process", *peaks, "B")
