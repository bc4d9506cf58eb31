"""Compare the estimate from a part of a corpus with a build of the whole corpus.

    python tests/benchmarks/check_growth.py --data ../shared/data/gutenberg ../shared/data/enwiki --share 20
    python tests/benchmarks/check_growth.py --data ../shared/data/gutenberg --data ../shared/data/imdb --share 10

Each --data is a corpus of one or more folders. Prints a Markdown table: for each corpus the estimate from 1 / share of
the text, its range, and the measured value.
"""

import argparse
import tempfile
from pathlib import Path

from measured_build import estimated_values, measured_values

from pipelines.builds.build import build
from pipelines.estimate.build_cost import BuildCost, Cluster
from pipelines.estimate.build_estimate import EstimateRequest, estimate_build
from pipelines.estimate.growth_law import Bound
from pipelines.ingest.source_groups import estimate_text_bytes
from pipelines.ingest.sources import list_sources
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress

HEADER = "| corpus | | planned | range | measured | error |\n|---|---|---|---|---|---|"


def estimate_from_share(data: list[str], share: float, options: dict[str, object]) -> dict[Bound, BuildCost]:
    """Return the estimated cost of a build of a corpus, from a sample of 1 / `share` of its text."""
    text_bytes = sum(estimate_text_bytes(source) for source in list_sources(data))
    request = EstimateRequest(sources=tuple(data), options=options, cluster=Cluster(1, 1, 16e9))
    return estimate_build(request, int(text_bytes / share)).costs


def measure(data: list[str], target: str, options: dict[str, object]) -> dict[str, float]:
    """Build the whole corpus in this process, and return the measured values."""
    with StageProgress() as progress, InProcessRuntime() as runtime:
        build(data, target, BuildOptions.parse(options), runtime, progress)
    return measured_values(target)


def rows_of(corpus: str, costs: dict[Bound, BuildCost], found: dict[str, float]) -> list[str]:
    """Return the rows of the table of one corpus."""
    bounds = {bound: estimated_values(cost) for bound, cost in costs.items()}
    rows = []
    for name, real in found.items():
        low, point, high = (bounds[bound][name] for bound in (Bound.LOW, Bound.POINT, Bound.HIGH))
        cells = [f"{number:,.1f}" if number < 1000 else f"{number:,.0f}" for number in (point, low, high, real)]
        error = f"{point / real - 1:+.1%}" if real else "–"
        rows.append(f"| {corpus} | {name} | {cells[0]} | {cells[1]} – {cells[2]} | {cells[3]} | {error} |")
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", action="append", required=True, help="folders of a corpus")
    parser.add_argument("--share", type=float, default=20, help="the sample is one part in SHARE of the text")
    parser.add_argument("--shard-mib", type=int, default=8, help="shard size; small shards, so that segments merge")
    parser.add_argument("--mode", default="spectral", help="mode of the vectors")
    arguments = parser.parse_args()
    options: dict[str, object] = {"shard_mib": arguments.shard_mib, "mode": arguments.mode}
    print(HEADER, flush=True)
    for data in arguments.data:
        costs = estimate_from_share(data, arguments.share, options)
        with tempfile.TemporaryDirectory() as scratch:
            found = measure(data, f"{scratch}/build", options)
        print("\n".join(rows_of(" + ".join(Path(folder).name for folder in data), costs, found)), flush=True)


if __name__ == "__main__":
    main()
