"""Merging, logarithm and product with the code, in memory: ours against SciPy."""

import argparse
import json
from collections.abc import Iterator

from measure import run_script, scratch
from ratios import Ratio

WINDOW = 4
BITS = (32, 25, 200)


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU for each number of bits."""
    with scratch() as folder:
        arguments = (folder, WINDOW, options.runs, ",".join(map(str, BITS)), *options.data)
        seconds = json.loads(run_script("multiply_counts.py", *arguments, folder=folder).output)
    for bits, sides in seconds.items():
        name = f"merge, log and product, window {WINDOW}, {bits} bits: CPU, against SciPy"
        yield Ratio(name, sides["ours"], sides["theirs"], "s", "1/2", "1/3")
