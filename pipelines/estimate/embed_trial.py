"""Timed embedding of a sample.

In mode spectral, the products with the landmarks are timed separately, because they grow more slowly than the corpus.
In other modes, the times with a small and a large vocabulary separate the cost per pair from the cost per word.
"""

import time
from collections import defaultdict
from typing import Any, cast

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.merged_segments import open_merged
from bitcipher.counts.pairs import iter_pairs
from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.embedding.spectral.ppmi import Marginals
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding, check_window
from bitcipher.files import storage
from bitcipher.spelling.spelling import FIT_WORDS
from bitcipher.vocabulary import Vocabulary
from pipelines.embed.embed_counts import embed
from pipelines.embed.spectral_vectors import spectral_table
from pipelines.embed.spelled_rows import add_spelling
from pipelines.merge.vocabulary import choose_vocabulary, find_candidates
from pipelines.options import BuildOptions, EmbeddingOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.store.segments import Segment

# Maximum sizes of the two vocabularies, because vectors of a trial are in memory. A sample of text with few repeated
# words, such as identifiers, has millions.
SMALL_WORDS, LARGE_WORDS = 1 << 18, 1 << 19

# In mode spectral, a row of the weighted matrix costs as much as this number of its pairs, forward and backward.
# Measured with 0.6 and 10.7 million tokens of enwiki: 35 in the products of the landmarks, 27 in the last product.
ROW_PAIRS = 32


class TimedProducts:
    """Wraps `Products`, and adds up the CPU seconds of each of its methods.

    Attributes:
        seconds: seconds by name of the method.
    """

    def __init__(self, products: InMemoryProducts):
        self._products = products
        self.seconds: dict[str, float] = defaultdict(float)

    @property
    def marginals(self) -> Marginals:
        """See `Products`."""
        return self._products.marginals

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            start = time.process_time()
            result = getattr(self._products, name)(*arguments)
            self.seconds[name] += time.process_time() - start
            return result

        return call


def embed_sample(build: str, merged: Segment, options: BuildOptions) -> tuple[dict[str, float], int]:
    """Return the fields of `Rates` that the vocabulary and embedding determine, and the size of the vocabulary.

    Args:
        build: folder of the counts.
        merged: counts of the sample.
        options: options of the planned build.

    Raises:
        BitcipherError: if there is too little text.
    """
    parts = [storage.join(build, part) for part in merged.parts]
    start = time.process_time()
    vocabulary = _choose(build, merged, options)
    sum_type = (time.process_time() - start) / merged.types
    small, large = (
        open_merged(
            _choose(build, merged, BuildOptions(min_count=1, max_vocab_size=size)), options.context_window, [parts]
        )
        for size in (min(len(vocabulary), SMALL_WORDS), LARGE_WORDS)
    )
    target, estimator = storage.join(build, "vectors"), options.estimator()
    embed(small, options.embedding, {}).save(f"{target}-first")  # load the kernels
    if isinstance(estimator, SpectralEmbedding):
        landmark_entries = count_landmark_entries(parts, merged.types, options.embedding)
        rates = _spectral_rates(large, estimator, options.embedding, target, merged.entries, landmark_entries)
    else:
        rates = _table_rates(small, large, options.embedding, target, merged.entries)
    return {"sum_type": sum_type, **rates}, len(vocabulary)


def count_landmark_entries(parts: list[str], types: int, options: EmbeddingOptions) -> int:
    """Return the number of pairs in the products with the landmarks, forward and backward.

    A word number is the rank of the word in its segment, so the landmarks are the words with the smallest numbers.
    """
    estimator = SpectralEmbedding(landmarks=options.landmarks, landmark_contexts=options.landmark_contexts)
    rows, contexts = estimator.rows(types), estimator.contexts(types)
    total = 0
    for part in parts:
        for block in iter_pairs(part, types):
            left = np.repeat(block.left, block.length)
            forward = (left < rows) & (block.right < contexts)
            backward = (block.right < rows) & (left < contexts)
            total += np.count_nonzero(forward) + np.count_nonzero(backward)
    return int(total)


def weighted_pairs(pairs: float, rows: float) -> float:
    """Return the work of a product in mode spectral: its pairs, forward and backward, and its rows as pairs."""
    return pairs + ROW_PAIRS * rows


def _table_rates(
    small: MergedCounts, large: MergedCounts, embedding: EmbeddingOptions, target: str, entries: int
) -> dict[str, float]:
    """Return the rates of modes cat, sum and cipher: per pair and per word."""
    runs = []
    for counts in (small, large):
        start = time.process_time()
        embed(counts, embedding, {}).save(f"{target}-{len(runs)}")
        runs.append((len(counts.vocabulary), time.process_time() - start))
    (few, seconds), (many, more_seconds) = runs
    embed_word = max(0.0, (more_seconds - seconds) / (many - few)) if many > few else 0.0
    # Vectors of mode cipher do not depend on the pairs.
    pair_seconds = 0.0 if embedding.mode == "cipher" else max(0.0, seconds - few * embed_word)
    return {"embed_entry": pair_seconds / entries, "embed_word": embed_word}


def _spectral_rates(
    counts: MergedCounts,
    estimator: SpectralEmbedding,
    embedding: EmbeddingOptions,
    target: str,
    entries: int,
    landmark_entries: int,
) -> dict[str, float]:
    """Return the rates of mode spectral. All words of the sample are used, so that there are enough landmarks."""
    vocabulary = counts.vocabulary
    words, window = len(vocabulary), check_window(counts.context_window, embedding.window)
    start = time.process_time()
    products = InMemoryProducts.from_counts(counts, window, estimator.columns(words))
    gathered = time.process_time()
    timed = TimedProducts(products)
    spectrum = estimator.factor(cast(Any, timed), vocabulary, products.blocks)
    table = add_spelling(spectral_table(spectrum), vocabulary, embedding.spelling_share, 1)
    fitted = time.process_time()
    table.to_vectors(vocabulary, embedding, {}).save(target)
    saved = time.process_time()
    all_products = sum(timed.seconds.values())
    extend = timed.seconds["extend"]
    return {
        "embed_entry": (gathered - start + extend) / weighted_pairs(2 * entries, words),
        "embed_word": (saved - fitted) / words,
        "fitted_word": (fitted - gathered - all_products) / min(FIT_WORDS, words),
        "product_entry": (all_products - extend) / weighted_pairs(landmark_entries, estimator.rows(words)),
    }


def _choose(build: str, merged: Segment, options: BuildOptions) -> Vocabulary:
    words = find_candidates([merged], build, options, None, 1 << 62, InProcessRuntime())
    return choose_vocabulary(words, merged.total_passages, options)
