"""Calibration: runs the stages on a sample, and measures their rates and the growth of words and pairs.

1. One `CountStage` counts the parts of the sample twice. The second time, all text chunks are in the tokenizer's cache.
   The difference in time is the cost of tokenizing new chunks.
2. The parts are merged one by one into a growing segment. The sizes after each merge give the growth of words and
   pairs, and the times give the cost of merging.
3. Vectors are made. In mode spectral, the products with the landmarks and the algebra between them are timed
   separately, because they stop growing with the corpus. In other modes, the times with a small and a large vocabulary
   separate the cost per pair from the cost per word.
"""

import os
from collections.abc import Sequence
from tempfile import TemporaryDirectory

import numpy as np

from bitcipher.counts.segment_words import merge_words
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.estimate.calibration import Calibration, Rates
from pipelines.estimate.embed_trial import embed_sample
from pipelines.estimate.sample import partition, write_documents
from pipelines.estimate.stage_trials import (
    count_chunks,
    count_parts,
    file_sizes,
    fixed_and_rate,
    merge_parts,
    seconds_per_byte,
    seconds_per_number,
)
from pipelines.options import BuildOptions

# Minimum number of parts to fit a growth law.
MIN_PARTS = 4


def calibrate(documents: Sequence[str], options: BuildOptions) -> Calibration:
    """Run the stages on a sample, and return the measurements.

    Files are written to a temporary folder, which is removed at the end.

    Args:
        documents: the sample.
        options: options of the planned build.

    Raises:
        BitcipherError: if the sample has too few documents.
    """
    parts = partition(documents)
    if len(parts) < MIN_PARTS:
        raise BitcipherError(
            f"The sample has {len(documents)} documents, too few to measure how words and pairs grow: give at least "
            "8, ideally some megabytes of text."
        )
    with TemporaryDirectory(prefix="bitcipher-plan-") as build:
        files = [os.path.join(build, f"part-{number}.jsonl") for number in range(len(parts))]
        for file, part in zip(files, parts, strict=True):
            write_documents(file, part)
        chunks = count_chunks(parts)
        counted = count_parts(build, files, options)
        merged, rates, points = merge_parts(build, counted.shards, options, chunks)
        embed_rates, vocabulary = embed_sample(build, merged, options)
        sizes = file_sizes(build, merged)
        words = merge_words([[storage.join(build, part) for part in merged.parts]])
        tokens = np.array([shard.tokens for shard in counted.shards], np.float64)
        fixed, token = fixed_and_rate(tokens, counted.warm_seconds)
        # The tokenizer also has a fixed cost per shard with new chunks.
        new_chunks = np.maximum(1.0, np.diff(np.array(chunks, np.float64), prepend=0))
        fixed_new, chunk = fixed_and_rate(new_chunks, counted.cold_seconds - counted.warm_seconds)
        return Calibration(
            rates=Rates(
                stored_byte=seconds_per_byte(files),
                shard=fixed + fixed_new,
                token=token,
                chunk=chunk,
                number_again=seconds_per_number(build, merged.types),
                **rates,
                **embed_rates,
            ),
            points=points,
            text_per_token=merged.text_bytes / merged.tokens,
            entry_bytes=(sizes[1] + sizes[2]) / merged.entries,
            type_bytes=sizes[0] / merged.types,
            type_memory=words.nbytes / merged.types,
            vocabulary=vocabulary,
        )
