"""Timed runs of the stages on a sample."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.optimize import nnls

from bitcipher.counts.segment import part_files, read_words
from bitcipher.files import parquet_files, storage
from pipelines.count.count_stage import CountStage, CountTask
from pipelines.estimate.calibration import GrowthPoint
from pipelines.estimate.embed_trial import check_has_pairs, count_landmark_entries
from pipelines.ingest.content_hash import sha256
from pipelines.ingest.sources import list_sources
from pipelines.merge.merge_segments import merge_segments
from pipelines.merge.row_stage import MergeStage
from pipelines.merge.word_stages import NumberStage
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import RangeLimits
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec
from pipelines.store.layout import LEDGER, SEGMENTS, WORK
from pipelines.store.segments import Merge, Segment
from pipelines.tokenizers.registry import make_tokenizer

ALL_IN_ONE_RANGE = RangeLimits(size=1 << 62, words=1 << 62)


class MeteredRuntime(InProcessRuntime):
    """In-process runtime that adds up the CPU seconds of each stage class."""

    def __init__(self) -> None:
        super().__init__()
        self.cpu_seconds: dict[Any, float] = {}

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over all inputs, and then yield the results."""
        start = time.process_time()
        results = list(super().stream(spec, inputs))
        self.cpu_seconds[spec.make] = self.cpu_seconds.get(spec.make, 0.0) + time.process_time() - start
        yield from results


@dataclass(frozen=True)
class CountedParts:
    """Parts of the sample, counted as shards."""

    shards: list[Segment]
    cold_seconds: np.ndarray
    """(parts,) float64, CPU seconds to count each part with new text chunks."""
    warm_seconds: np.ndarray
    """(parts,) float64, CPU seconds to count each part again, with all chunks in the tokenizer's cache."""


def count_parts(build: str, files: list[str], options: BuildOptions) -> CountedParts:
    """Count each part as a shard, with a cold and with a warm tokenizer cache.

    Args:
        build: folder for the counts, in the layout of a build.
        files: one file per part.
        options: options of the build.

    Raises:
        BitcipherError: if no two words occur near each other.
    """
    _count_file(_count_stage(build, options), "warm-up", files[0])  # load the kernels
    stage = _count_stage(build, options)
    shards, cold = zip(*(_count_file(stage, f"cold{i}", file) for i, file in enumerate(files)), strict=True)
    check_has_pairs(sum(shard.entries for shard in shards))
    warm = [_count_file(stage, f"warm{i}", file)[1] for i, file in enumerate(files)]
    return CountedParts(list(shards), np.array(cold), np.array(warm))


def _count_stage(build: str, options: BuildOptions) -> CountStage:
    return CountStage(
        build,
        storage.join(build, LEDGER),
        # The sample is written as JSON lines, for sources of any format.
        options.derive({"format": None, "document": "line", "field": "text", "encoding": None}),
        shard_bytes=1 << 62,
    )


def _count_file(stage: CountStage, name: str, file: str) -> tuple[Segment, float]:
    """Count a file as one shard; return it and the CPU seconds."""
    task = CountTask(name, tuple(list_sources([file])))
    start = time.process_time()
    (counted,) = stage(task)
    return counted.shard, time.process_time() - start


def count_chunks(parts: Iterable[Sequence[str]]) -> list[int]:
    """Return the number of distinct text chunks of the first part, of the first two parts, and so on."""
    tokenizer = make_tokenizer("whitespace", lowercase=False, max_chunks=1 << 40)
    return [len(tokenizer.tokenize(pa.array(part, pa.large_string())).words) for part in parts]


def merge_parts(
    build: str, shards: list[Segment], options: BuildOptions, chunks: list[int]
) -> tuple[Segment, dict[str, float], list[GrowthPoint]]:
    """Merge shards one by one into a segment.

    Returns:
        The merged segment, the fields of `Rates` that merging determines, and the sizes after each merge.
    """
    _merge_two(build, shards[0], shards[1], "warm-up", options, MeteredRuntime())
    runtime = MeteredRuntime()
    merged = shards[0]
    points = [_point(build, merged, chunks[0], options)]
    seconds, member_types, prepared_types, member_entries = 0.0, 0, 0, 0
    for number, shard in enumerate(shards[1:], start=1):
        start = time.process_time()
        result = _merge_two(build, merged, shard, f"merged{number}", options, runtime)
        seconds += time.process_time() - start
        member_types += merged.types + shard.types
        prepared_types += result.types
        member_entries += merged.entries + shard.entries
        merged = result
        points.append(_point(build, merged, chunks[number], options))
    numbering, merging = (runtime.cpu_seconds[stage] for stage in (NumberStage, MergeStage))
    rates = {
        "sum_type": (seconds - numbering - merging) / member_types,
        "number_type": numbering / (member_types + prepared_types),
        "merge_entry": merging / member_entries,
    }
    return merged, rates, points


def _merge_two(
    build: str, first: Segment, second: Segment, name: str, options: BuildOptions, runtime: MeteredRuntime
) -> Segment:
    work = storage.join(build, WORK, name)
    ledger = storage.join(build, LEDGER)
    merge = Merge((first, second))
    # All words in one range. The cost of more ranges is measured as `number_again`.
    (segment,) = merge_segments({name: merge}, build, SEGMENTS, work, ALL_IN_ONE_RANGE, runtime, ledger)
    return segment


def _point(build: str, segment: Segment, chunks: int, options: BuildOptions) -> GrowthPoint:
    parts = [storage.join(build, part) for part in segment.parts]
    words = read_words(parts)
    return GrowthPoint(
        tokens=segment.tokens,
        types=segment.types,
        single_passage_types=int((words["passages"].to_numpy() == 1).sum()),
        chunks=chunks,
        entries=segment.entries,
        row_entries=int(words["entries"].to_numpy().max()),
        landmark_entries=count_landmark_entries(parts, segment.types, options.embedding),
    )


def fixed_and_rate(sizes: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Return a fixed cost and a cost per unit of size, both at least 0, fitted to measured times."""
    # Errors grow with size, so the squared error of each measurement is divided by its size.
    weights = 1 / np.sqrt(sizes)
    fixed, rate = nnls(np.stack([weights, sizes * weights], axis=1), seconds * weights)[0]
    return float(fixed), float(rate)


def seconds_per_byte(files: list[str]) -> float:
    """Return the CPU seconds to read and hash one byte."""
    start = time.process_time()
    for file in files:
        sha256(file)
    return (time.process_time() - start) / sum(map(os.path.getsize, files))


def seconds_per_number(build: str, types: int) -> float:
    """Return the CPU seconds to read one word number, from numbers in random order."""
    file = storage.join(build, "numbers.parquet")
    numbers = np.random.default_rng(0).permutation(types).astype(np.int32)
    parquet_files.write_table(file, pa.table({"number": numbers}))
    start = time.process_time()
    parquet_files.read_table(file)["number"].to_numpy()
    return (time.process_time() - start) / types


def file_sizes(build: str, segment: Segment) -> tuple[int, int, int]:
    """Return the stored bytes of words, rows and entries of a segment."""
    files = zip(*(part_files(storage.join(build, part)) for part in segment.parts), strict=True)
    words, rows, entries = (sum(map(os.path.getsize, kind)) for kind in files)
    return words, rows, entries
