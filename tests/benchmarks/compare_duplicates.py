"""Near duplicates: ours against datatrove's MinHash, on a corpus with planted near copies."""

import argparse
from collections.abc import Iterator

from measure import HERE, run, run_script, scratch
from ratios import Ratio

# Ranges of the Jaccard similarity of planted pairs, with the goal for the share of pairs that are joined.
RANGES = {(0.2, 0.5): "at most 0.01", (0.5, 0.7): "–", (0.7, 0.8): "–", (0.8, 0.9): "0.95", (0.9, 1.01): "0.95"}

Document = tuple[str, str]  # file and row


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU and peak memory, and count the planted pairs that both sides join."""
    with scratch() as folder:
        run_script("plant_copies.py", folder, *options.data, folder=folder)
        corpus = folder / "corpus"
        # Fills numba's cache.
        run_script("duplicates_ours.py", corpus, folder=folder)
        runs = []
        for number in range(options.runs):
            ours = run_script("duplicates_ours.py", corpus, folder=folder)
            # datatrove skips tasks whose results exist, so each run has its own directory.
            script = HERE / "duplicates_datatrove.py"
            theirs = run([options.datatrove, script, corpus, folder / f"run-{number}"], folder)
            runs.append((ours, theirs))
        pairs = [line.split() for line in (folder / "pairs.txt").read_text().splitlines()]
    cpu = ([cost.cpu for cost in costs] for costs in zip(*runs, strict=True))
    yield Ratio("duplicates: CPU, against datatrove", *cpu, "s", "1/2")
    peaks = ([cost.peak for cost in costs] for costs in zip(*runs, strict=True))
    yield Ratio("duplicates: peak memory, against datatrove", *peaks, "B")
    for side, cost in zip(("bitcipher", "datatrove"), runs[-1], strict=True):
        cluster = read_clusters(cost.output)
        for (low, high), goal in RANGES.items():
            chosen = [pair for pair in pairs if low <= float(pair[4]) < high]
            joined = [pair for pair in chosen if cluster.get((pair[0], pair[1]), "") == cluster.get((pair[2], pair[3]))]
            name = f"duplicates: pairs joined by {side} at similarity {low} – {min(high, 1.0)}, of all"
            yield Ratio(name, [len(joined)], [len(chosen)], "", goal if side == "bitcipher" else "–")


def read_clusters(output: str) -> dict[Document, str]:
    """Return the cluster of each document in a cluster."""
    lines = (line.split() for line in output.splitlines())
    return {(file, row): cluster for file, row, cluster in lines}
