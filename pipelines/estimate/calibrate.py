"""Calibration: runs the stages on a sample, and measures their rates and the growth of words and pairs.

1. One `CountStage` counts the parts of the sample, and the last part again. Then, all text chunks are in the
   tokenizer's cache. The remaining time of the first counts is a fixed cost per shard, and the cost of tokenizing new
   chunks.
2. The parts are merged one by one into a growing segment. The sizes after each merge give the growth of words and
   pairs.
3. Vectors are made (`embed_trial`).

Rates per token and of merging are those of the last part, half of the sample, in which fixed costs matter least.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.optimize import nnls

from bitcipher.counts.segment import part_files, read_words
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.count.count_stage import CountStage, CountTask
from pipelines.estimate.embed_trial import count_landmark_entries, embed_sample
from pipelines.estimate.sample import partition, write_documents
from pipelines.ingest.content_hash import sha256
from pipelines.ingest.sources import list_sources
from pipelines.merge.merge_records import MergedRange
from pipelines.merge.merge_segments import merge_segments
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import RangeLimits
from pipelines.runtime.runtime import StageResult
from pipelines.store.layout import LEDGER, SEGMENTS, WORK
from pipelines.store.segments import Merge, Segment
from pipelines.tokenizers.registry import make_tokenizer

# Minimum number of parts to fit a growth law.
MIN_PARTS = 4

ALL_IN_ONE_RANGE = RangeLimits(size=1 << 62, words=1 << 62)


@dataclass(frozen=True)
class Rates:
    """CPU seconds per unit of work."""

    stored_byte: float
    """Reading and hashing one stored byte."""
    shard: float
    """Fixed cost of a shard."""
    token: float
    """Reading and counting one token and writing its pairs, without tokenizing new text chunks."""
    chunk: float
    """Tokenizing one new text chunk."""
    merge_entry: float
    """Merging one pair of a segment."""
    merge_type: float
    """Adding up and numbering one word of a segment for a merge."""
    sum_type: float
    """Adding up one word of a segment to choose the vocabulary."""
    embed_entry: float
    """Reading one pair and adding it to the sums; in mode spectral, weighting it, and multiplying it in the last
    product, in one direction."""
    embed_word: float
    """Computing and refining the vector of one word."""
    fitted_word: float = 0.0
    """Linear algebra of mode spectral, and fitting n-grams, per word that n-grams are fitted to."""
    product_entry: float = 0.0
    """All products of mode spectral with one pair of a landmark and a context word, in either direction."""


@dataclass(frozen=True)
class GrowthPoint:
    """Sizes of the counts of some text."""

    tokens: int
    types: int
    """Number of distinct words."""
    chunks: int
    """Number of distinct strings between white space, which the tokenizer splits once and caches."""
    entries: int
    """Number of distinct pairs."""
    row_entries: int
    """Number of pairs of the word with the most pairs, the minimum size of the range that contains it."""
    landmark_entries: int
    """Number of pairs of a landmark and a context word in mode spectral, forward and backward."""


@dataclass(frozen=True)
class Calibration:
    """Measurements of a sample."""

    rates: Rates
    points: list[GrowthPoint]
    """Sizes of growing text; the last point is the whole sample."""
    new_word_share: float
    """Share of the words of the sample that occur in one passage only, which is the exponent of their growth."""
    text_per_token: float
    """Bytes of text per token."""
    entry_bytes: float
    """Stored bytes per pair."""
    type_bytes: float
    """Stored bytes per word."""
    type_memory: float
    """Bytes of memory per word in a table of words and counts."""
    vocabulary: int
    """Size of the vocabulary of the sample."""


def calibrate(documents: Sequence[str], options: BuildOptions) -> Calibration:
    """Run the stages on a sample, and return the measurements.

    Files are written to a temporary folder, which is removed at the end.

    Args:
        documents: the sample.
        options: options of the planned build.

    Raises:
        BitcipherError: if the sample has too few documents, or no two words occur near each other.
    """
    parts = partition(documents)
    if len(parts) < MIN_PARTS:
        raise BitcipherError(
            f"The sample has {len(documents)} documents, too few to measure how words and pairs grow: give at least "
            "8, ideally some megabytes of text."
        )
    tokenizer = make_tokenizer("whitespace", lowercase=False, max_chunks=1 << 40)
    chunks = [len(tokenizer.tokenize(pa.array(part, pa.large_string())).words) for part in parts]
    with TemporaryDirectory(prefix="bitcipher-plan-") as build:
        files = [os.path.join(build, f"part-{number}.jsonl") for number in range(len(parts))]
        for file, part in zip(files, parts, strict=True):
            write_documents(file, part)
        _count(_count_stage(build, options), "first", files[0])  # load the kernels
        stage = _count_stage(build, options)
        counted = [_count(stage, f"cold{number}", file) for number, file in enumerate(files)]
        last, warm = _count(stage, "warm", files[-1])
        if not sum(shard.entries for shard, _ in counted):
            raise BitcipherError(
                "The sources have too little text for an estimate: no two words occur near each other."
            )
        token = warm / max(1, last.tokens)
        new_chunks = np.diff(np.array(chunks, np.float64), prepend=0)
        tokenizing = np.array([max(0.0, cold - token * shard.tokens) for shard, cold in counted])
        # Errors grow with size, so the squared error of each measurement is divided by its size.
        weights = 1 / np.sqrt(np.maximum(1.0, new_chunks))
        shard_seconds, chunk = nnls(np.stack([weights, new_chunks * weights], axis=1), tokenizing * weights)[0]
        merged = counted[0][0]
        points, merge_rates = [_point(build, merged, chunks[0], options)], {}
        for (shard, _), distinct in zip(counted[1:], chunks[1:], strict=True):
            merged, merge_rates = _merge(build, Merge((merged, shard)))
            points.append(_point(build, merged, distinct, options))
        embed_rates, vocabulary = embed_sample(build, merged, options)
        start = time.process_time()
        sha256(files[-1])
        stored_byte = (time.process_time() - start) / os.path.getsize(files[-1])
        paths = [storage.join(build, part) for part in merged.parts]
        words = read_words(paths)
        word_bytes, *pair_bytes = (
            sum(map(os.path.getsize, kind)) for kind in zip(*map(part_files, paths), strict=True)
        )
        return Calibration(
            rates=Rates(
                stored_byte=stored_byte,
                shard=float(shard_seconds),
                token=token,
                chunk=float(chunk),
                **merge_rates,
                **embed_rates,
            ),
            points=points,
            new_word_share=float((words["passages"].to_numpy() == 1).mean()),
            text_per_token=merged.text_bytes / merged.tokens,
            entry_bytes=sum(pair_bytes) / merged.entries,
            type_bytes=word_bytes / merged.types,
            type_memory=words.nbytes / merged.types,
            vocabulary=vocabulary,
        )


def _count_stage(build: str, options: BuildOptions) -> CountStage:
    # The sample is written as JSON lines, for sources of any format.
    options = options.derive({"format": None, "document": "line", "field": "text", "encoding": None})
    return CountStage(build, storage.join(build, LEDGER), options)


def _count(stage: CountStage, name: str, file: str) -> tuple[Segment, float]:
    """Count a file as one shard; return the shard and the CPU seconds."""
    task = CountTask(name, tuple(list_sources([file])), shard_bytes=1 << 62)
    start = time.process_time()
    (counted,) = stage(task)
    return counted.shard, time.process_time() - start


def _merge(build: str, merge: Merge) -> tuple[Segment, dict[str, float]]:
    """Return the sum of two segments, and the fields of `Rates` of merging. All words are in one range."""
    work, ledger = storage.join(build, WORK, merge.name), storage.join(build, LEDGER)
    seconds = {True: 0.0, False: 0.0}  # of pairs, and of words

    def add(result: StageResult[Any]) -> None:
        seconds[isinstance(result.value, MergedRange)] += result.cost.cpu_seconds

    merges = {merge.name: merge}
    (segment,) = merge_segments(merges, build, SEGMENTS, work, ALL_IN_ONE_RANGE, InProcessRuntime(), ledger, add)
    return segment, {
        "merge_entry": seconds[True] / merge.total("entries"),
        "merge_type": seconds[False] / merge.total("types"),
    }


def _point(build: str, segment: Segment, chunks: int, options: BuildOptions) -> GrowthPoint:
    parts = [storage.join(build, part) for part in segment.parts]
    return GrowthPoint(
        tokens=segment.tokens,
        types=segment.types,
        chunks=chunks,
        entries=segment.entries,
        row_entries=int(read_words(parts)["entries"].to_numpy().max()),
        landmark_entries=count_landmark_entries(parts, segment.types, options.embedding),
    )
