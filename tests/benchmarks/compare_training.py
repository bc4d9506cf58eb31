"""Training: a step of our loop against a step of transformers' Trainer, on the same small RoBERTa."""

import argparse
import json
from collections.abc import Iterator

from measure import run_script, scratch
from ratios import Ratio

STEPS = 25


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU per step on one thread, which is the inverse of throughput."""
    with scratch() as folder:
        run_script("prepare.py", "tokens", folder / "tokens.txt", *options.data, folder=folder)
        run_script("train_roberta.py", "prepare", folder / "text", folder / "tokens.txt", folder=folder)
        ways = ("ours", "trainer")
        runs = [
            [
                json.loads(run_script("train_roberta.py", way, folder / "text", STEPS, folder=folder).output)
                for way in ways
            ]
            for _ in range(options.runs)
        ]
    cpu = ([result["cpu"] for result in each] for each in zip(*runs, strict=True))
    yield Ratio("training: CPU of a step, against transformers' Trainer", *cpu, "s", "1/1.5")
