"""Exact sums and differences of segments. All merges run at the same time, in stages (`word_stages`, `row_stage`):

1. If the words of a merge do not fit in memory, `SampleStage` samples those of its operands, to choose ranges of words.
2. `SumStage` adds up the words of a range.
3. `NumberStage` numbers the words of a range by their rank in the merge, and finds the rows of each operand.
4. If there are several ranges of words, `OrderStage` puts the numbers of each operand together (`number_tables`).
5. `MergeStage` reads the rows of one range of words from all operands, renumbers them and adds them up. Each range
   becomes a part of the new segment.

No stage holds all words of a merge.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bitcipher.counts.digest import CountDigest, digest_words
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.merge.merge_plan import MergePlan
from pipelines.merge.merge_progress import MergeProgress
from pipelines.merge.merge_records import MergedRange
from pipelines.merge.row_stage import MergeStage
from pipelines.merge.sample_stage import SampleStage
from pipelines.merge.word_stages import NumberStage, OrderStage, SumStage
from pipelines.runtime.memory_budget import RangeLimits
from pipelines.runtime.runtime import In, Out, Runtime, StageResult, StageSpec
from pipelines.store.segments import Merge, Segment

# Minimum number of rows and entries (stored pairs) of a range, unless memory limits it: they are merged in a fifth of a
# second.
MIN_RANGE_SIZE = 1 << 20

# Number of the stages before `MergeStage`.
_WORD_STAGES = 4


def merge_segments(
    merges: Mapping[str, Merge],
    build: str,
    folder: str,
    work: str,
    limits: RangeLimits,
    runtime: Runtime,
    ledger: str | None = None,
    on_result: Callable[[StageResult[Any]], None] = lambda result: None,
    progress: MergeProgress | None = None,
) -> list[Segment]:
    """Merge segments, and return the new segments.

    Args:
        merges: the merges, by the name of the new segment.
        build: folder of the build.
        folder: folder for the parts, relative to the build.
        work: folder for temporary files, which is removed at the end.
        limits: maximum sizes of the ranges that a worker holds.
        runtime: runtime of the stages.
        ledger: URI of the ledger that records finished ranges, or None.
        on_result: called with each result of a stage.
        progress: called as the merges progress, if it is given.
    """
    progress = progress or MergeProgress()

    def run(
        make: Callable[..., Callable[[In], Iterator[Out]]], arguments: dict[str, Any], inputs: Sequence[In]
    ) -> Iterator[StageResult[Out]]:
        for result in runtime.stream(StageSpec("merge", make, arguments, in_parallel=True), inputs):
            on_result(result)
            yield result

    def run_on_words(
        make: Callable[..., Callable[[In], Iterator[Out]]], arguments: dict[str, Any], inputs: Sequence[In]
    ) -> Iterator[StageResult[Out]]:
        for result in run(make, arguments, inputs):
            progress.on_words(1 / _WORD_STAGES / len(inputs))
            yield result

    plans = {
        name: MergePlan(name, merge, [[storage.join(build, part) for part in s.parts] for s in merge.operands], work)
        for name, merge in merges.items()
    }
    samples = [sample for plan in plans.values() for sample in plan.samples(limits.words)]
    for result in run_on_words(SampleStage, {}, samples):
        plans[result.value.merge].sampled[result.value.operand] = result.value.sample
    sums = [item for plan in plans.values() for item in plan.choose_ranges(limits.words)]
    for result in run_on_words(SumStage, {"work": work}, sums):
        plans[result.value.merge].summed[result.value.index] = result.value
    numberings = [item for plan in plans.values() for item in plan.numberings(limits.words)]
    range_size = _choose_range_size(merges.values(), limits.size, max(runtime.workers, runtime.threads))
    arguments = {"work": work, "range_size": range_size, "max_size": limits.size}
    for result in run_on_words(NumberStage, arguments, numberings):
        plans[result.value.merge].numbered[result.value.index] = result.value
    orders = [item for plan in plans.values() for item in plan.orders()]
    for _ in run_on_words(OrderStage, {}, orders):
        pass
    ranges = [item for plan in plans.values() for item in plan.ranges()]
    done: dict[str, dict[int, MergedRange]] = {name: {} for name in merges}
    progress.on_ranges(len(ranges))
    arguments = {"work": work, "build": build, "folder": folder, "ledger": ledger}
    for result in run(MergeStage, arguments, ranges):
        done[result.value.merge][result.value.index] = result.value
        progress.on_range(result)
    storage.remove(work)
    return [
        _merged_segment(merge, name, [done[name][i] for i in range(len(done[name]))], plans[name].types)
        for name, merge in merges.items()
    ]


def _choose_range_size(merges: Iterable[Merge], maximum: int, instances: int) -> int:
    """Return the number of rows and entries of a range such that each instance of a stage gets a range, if they are
    worth it.
    """
    entries = sum(segment.entries for merge in merges for segment in merge.operands)
    return min(maximum, max(MIN_RANGE_SIZE, -(-entries // instances)))


def _merged_segment(merge: Merge, name: str, ranges: list[MergedRange], types: int) -> Segment:
    """Return the record of a merged segment.

    Raises:
        BitcipherError: if its counts differ from those that are recorded for its operands.
    """
    none = np.empty(0, np.int64)
    digest = digest_words(np.empty((0, 2), np.uint64), none, none, merge.total("total_passages"))
    digest = sum((CountDigest.from_hex(merged.digest) for merged in ranges), digest)
    if digest.hex() != merge.digest:
        names = ", ".join(segment.name for segment in merge.operands)
        raise BitcipherError(
            f"The counts of at least one of the segments {names} are damaged, because their sum has another digest "
            "than their records: build again."
        )
    return Segment(
        name=name,
        parts=tuple(merged.part for merged in ranges),
        part_hashes=tuple(merged.sha256 for merged in ranges),
        shards=merge.shards,
        documents=merge.total("documents"),
        total_passages=merge.total("total_passages"),
        text_bytes=merge.total("text_bytes"),
        tokens=merge.total("tokens"),
        types=types,
        entries=sum(merged.entries for merged in ranges),
        digest=merge.digest,
    )
