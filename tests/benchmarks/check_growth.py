"""Compare the estimate from a tenth of a corpus with a build of the whole corpus.

    python tests/benchmarks/check_growth.py ../shared/data/gutenberg ../shared/data/enwiki ../shared/data/imdb

Prints a Markdown table: for each corpus the estimate, its range, and the measured value.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bitcipher.counts import part_files
from pipelines.build.build import build
from pipelines.build.report import read_report
from pipelines.estimate.build_cost import BuildCost, Cluster
from pipelines.estimate.build_estimate import EstimateRequest, estimate_build
from pipelines.estimate.growth_law import Bound
from pipelines.ingest.source_groups import estimate_text_bytes
from pipelines.ingest.sources import list_sources
from pipelines.merge.merge_segments import merge_segments
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.progress import StageProgress
from pipelines.store.segments import Merge, Segment
from pipelines.store.stored_versions import StoredVersions

# Small shards, so that the build merges segments.
SHARD_MEGABYTES = 8

SHARE = 10

ITEMS = {
    "tokens": lambda cost: cost.tokens,
    "words": lambda cost: cost.types,
    "pairs": lambda cost: cost.entries,
    "vocabulary": lambda cost: cost.vocabulary,
    "bytes of shards": lambda cost: cost.shard_bytes,
    "bytes of merged segments": lambda cost: cost.segment_bytes,
    "CPU seconds of counting": lambda cost: cost.cpu_seconds["count"],
    "CPU seconds of vectors": lambda cost: cost.cpu_seconds["embed"],
    "CPU seconds of all": lambda cost: sum(cost.cpu_seconds.values()),
}


def estimate_from_a_tenth(data: str) -> dict[Bound, BuildCost]:
    """Return the estimated cost of a build of the whole corpus, from a sample of a tenth."""
    text_bytes = sum(estimate_text_bytes(source) for source in list_sources([data]))
    request = EstimateRequest(sources=(data,), options={"shard_mib": SHARD_MEGABYTES}, cluster=Cluster(1, 1, 16e9))
    return estimate_build(request, text_bytes // SHARE).costs


def measure(data: str, target: str) -> list[float]:
    """Build the whole corpus, and return the measured values in the order of ITEMS."""
    start = time.process_time()
    with StageProgress() as progress, InProcessRuntime() as runtime:
        build([data], target, BuildOptions(shard_mib=SHARD_MEGABYTES), runtime, progress)
    seconds = time.process_time() - start
    version = StoredVersions(target).find()
    manifest = version.manifest
    stages = read_report(target, manifest).stages
    merges = {"whole": Merge(version.segments)}
    (whole,) = merge_segments(
        merges, target, "whole", f"{target}/work", MemoryBudget(1500).range_limits, InProcessRuntime()
    )
    return [
        manifest.tokens,
        whole.types,
        whole.entries,
        manifest.vocabulary,
        _stored(target, version.shards),
        _stored(target, [segment for segment in version.segments if len(segment.shards) > 1]),
        stages["count"].cpu_seconds,
        stages["embed"].cpu_seconds,
        seconds,
    ]


def _stored(build: str, segments: Sequence[Segment]) -> int:
    files = [file for segment in segments for part in segment.parts for file in part_files(f"{build}/{part}")]
    return sum(Path(file).stat().st_size for file in files)


def main(corpora: list[str]) -> None:
    """Print the table."""
    print("| corpus | | planned from a tenth | range | the whole | error |\n|---|---|---|---|---|---|")
    for data in corpora:
        costs = estimate_from_a_tenth(data)
        with tempfile.TemporaryDirectory() as scratch:
            found = measure(data, f"{scratch}/build")
        for (name, value), real in zip(ITEMS.items(), found, strict=True):
            low, point, high = (value(costs[bound]) for bound in (Bound.LOW, Bound.POINT, Bound.HIGH))
            cells = [f"{number:,.1f}" if number < 1000 else f"{number:,.0f}" for number in (point, low, high, real)]
            error = f"{point / real - 1:+.1%}"
            print(
                f"| {Path(data).name} | {name} | {cells[0]} | {cells[1]} – {cells[2]} | {cells[3]} | {error} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
