"""Estimated and measured values of a build, by the same names.

measured_build.py BUILD   prints the measured values as JSON
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bitcipher.counts.segment import part_files
from pipelines.builds.report import read_report
from pipelines.estimate.build_cost import BuildCost
from pipelines.merge.merge_segments import merge_segments
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.store.segments import Merge, Segment
from pipelines.store.stored_versions import StoredVersions

STAGES = ("identify", "count", "merge", "words", "embed")

BUDGET = MemoryBudget(1500)


def estimated_values(cost: BuildCost) -> dict[str, float]:
    """Return the estimated values."""
    return {
        "tokens": cost.tokens,
        "words": cost.types,
        "pairs": cost.entries,
        "vocabulary": cost.vocabulary,
        "bytes of shards": cost.shard_bytes,
        "bytes of merged segments": cost.segment_bytes,
        "bytes of vectors": cost.vector_bytes,
        **{f"CPU seconds of {stage}": cost.cpu_seconds[stage] for stage in STAGES},
        "CPU seconds of all": sum(cost.cpu_seconds.values()),
    }


def measured_values(build: str) -> dict[str, float]:
    """Return the measured values of the newest version of a build. All counts are merged once more, in a new folder."""
    counted = StoredVersions(build).find()
    manifest = counted.manifest
    seconds = {name: cost.cpu_seconds for name, cost in read_report(build, manifest).stages.items()}
    types, entries = _merged_sizes(build, counted.segments)
    version = Path(build, manifest.folder)
    return {
        "tokens": manifest.tokens,
        "words": types,
        "pairs": entries,
        "vocabulary": manifest.vocabulary,
        "bytes of shards": _stored(build, counted.shards),
        "bytes of merged segments": _stored(build, [each for each in counted.segments if len(each.shards) > 1]),
        "bytes of vectors": sum(file.stat().st_size for file in version.rglob("*") if file.is_file()),
        **{f"CPU seconds of {stage}": seconds.get(stage, 0.0) for stage in STAGES},
        "CPU seconds of all": sum(seconds.values()),
    }


def _merged_sizes(build: str, segments: Sequence[Segment]) -> tuple[int, int]:
    """Return the numbers of distinct words and pairs."""
    if len(segments) == 1:
        return segments[0].types, segments[0].entries
    with TemporaryDirectory(dir=build) as folder:
        # Paths of parts are relative to the build.
        name = Path(folder).name
        merges = {"whole": Merge(tuple(segments))}
        (whole,) = merge_segments(merges, build, name, f"{folder}/work", BUDGET.range_limits, InProcessRuntime())
    return whole.types, whole.entries


def _stored(build: str, segments: Sequence[Segment]) -> int:
    files = [file for segment in segments for part in segment.parts for file in part_files(f"{build}/{part}")]
    return sum(Path(file).stat().st_size for file in files)


if __name__ == "__main__":
    print(json.dumps(measured_values(sys.argv[1])))
