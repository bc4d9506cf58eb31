"""Merge, log and product with the code, in memory: ours against scipy."""

import argparse
import json
from collections.abc import Iterator

from figures import Figure
from measure import run_script, scratch

RADIUS = 4
BITS = (32, 25, 200)


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """CPU for each number of bits."""
    with scratch() as folder:
        arguments = (folder, RADIUS, options.runs, ",".join(map(str, BITS)), *options.data)
        seconds = json.loads(run_script("multiply_counts.py", *arguments, folder=folder).output)
    for bits, sides in seconds.items():
        name = f"merge, log and product, r = {RADIUS}, b = {bits}: CPU, against scipy"
        yield Figure(name, sides["ours"], sides["theirs"], "s", "1/2", "1/3")
