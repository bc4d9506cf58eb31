"""Timed embedding of a sample."""

import time

import numpy as np

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.merged_segments import open_merged
from bitcipher.counts.pairs import iter_pairs
from bitcipher.embedding.row_blocks import RowSource
from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.embedding.spectral.spectral_embedding import Products, SpectralEmbedding, check_window
from bitcipher.errors import BitcipherError
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

ALL_WORDS_IN_ONE_RANGE = 1 << 62
# Maximum sizes of the two vocabularies, because vectors of a trial are in memory. A sample of text with few repeated
# words, such as identifiers, has millions.
SMALL_WORDS, LARGE_WORDS = 1 << 18, 1 << 19


class MeteredProducts:
    """Wraps `Products`, and measures the CPU seconds of the products, and of the algebra between them.

    Attributes:
        product_seconds: seconds of all products with the rows of the landmarks.
        extend_seconds: seconds of the product with the rows of all words.
        algebra_seconds: seconds between the products.
    """

    def __init__(self, products: Products):
        self._products = products
        self._last: float | None = None
        self.product_seconds = self.extend_seconds = self.algebra_seconds = 0.0

    def project(self, table: np.ndarray, scales: np.ndarray, landmarks: int) -> np.ndarray:
        """See `Products`."""
        start = self._begin()
        result = self._products.project(table, scales, landmarks)
        self.product_seconds += self._end() - start
        return result

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        start = self._begin()
        result = self._products.gram_product(table, scales)
        self.product_seconds += self._end() - start
        return result

    def extend(self, table: np.ndarray, scales: np.ndarray) -> RowSource:
        """See `Products`."""
        start = self._begin()
        result = self._products.extend(table, scales)
        self.extend_seconds += self._end() - start
        return result

    def _begin(self) -> float:
        now = time.process_time()
        self.algebra_seconds += 0.0 if self._last is None else now - self._last
        return now

    def _end(self) -> float:
        self._last = time.process_time()
        return self._last


def embed_sample(build: str, merged: Segment, options: BuildOptions) -> tuple[dict[str, float], int]:
    """Return the fields of `Rates` that embedding determines, and the size of the vocabulary.

    Args:
        build: folder of the counts.
        merged: counts of the sample.
        options: options of the planned build.

    Raises:
        BitcipherError: if there is too little text.
    """
    parts = [storage.join(build, part) for part in merged.parts]
    start = time.process_time()
    entries = sum(len(block.right) for part in parts for block in iter_pairs(part, merged.types))
    check_has_pairs(entries)
    walk_entry = (time.process_time() - start) / entries
    vocabulary = _vocabulary(build, merged, options)
    vocabularies = [
        vocabulary if len(vocabulary) <= SMALL_WORDS else _most_frequent_words(build, merged, SMALL_WORDS),
        _most_frequent_words(build, merged, LARGE_WORDS),
    ]
    embedding, target = options.embedding, storage.join(build, "vectors")
    estimator = embedding.estimator()
    if not isinstance(estimator, SpectralEmbedding):
        rates = _table_rates(vocabularies, parts, options.context_window, embedding, target, entries, walk_entry)
    else:
        small, large = (open_merged(each, options.context_window, [parts]) for each in vocabularies)
        landmark_entries = count_landmark_entries(parts, merged.types, embedding)
        rates = _spectral_rates(small, large, estimator, embedding, target, entries, landmark_entries)
    return {"walk_entry": walk_entry, **rates}, len(vocabulary)


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


def check_has_pairs(entries: int) -> None:
    """Check that a sample has pairs.

    Raises:
        BitcipherError: if no two words occur near each other.
    """
    if not entries:
        raise BitcipherError("The sources have too little text for an estimate: no two words occur near each other.")


def _table_rates(
    vocabularies: list[Vocabulary],
    parts: list[str],
    window: ContextWindow,
    embedding: EmbeddingOptions,
    target: str,
    entries: int,
    walk_entry: float,
) -> dict[str, float]:
    """Return the rates of modes cat, sum and cipher: per pair and per word."""
    small, large = vocabularies
    runs = []
    for number, vocabulary in enumerate((small, small, large)):
        start = time.process_time()
        embed(open_merged(vocabulary, window, [parts]), embedding, {}).save(f"{target}{number}")
        runs.append((len(vocabulary), time.process_time() - start))
    (few, seconds), (many, more_seconds) = runs[1:]  # the first run loaded the kernels
    embed_word = max(0.0, (more_seconds - seconds) / (many - few)) if many > few else 0.0
    embed_entry = max(walk_entry, (seconds - few * embed_word) / entries)
    of_spectral = dict.fromkeys(("product_entry", "landmark", "spelling_word"), 0.0)
    return {"embed_entry": embed_entry, "embed_word": embed_word, **of_spectral}


def _spectral_rates(
    small: MergedCounts,
    large: MergedCounts,
    estimator: SpectralEmbedding,
    embedding: EmbeddingOptions,
    target: str,
    entries: int,
    landmark_entries: int,
) -> dict[str, float]:
    """Return the rates of mode spectral. All words of the sample are used, so that there are enough landmarks."""
    window = check_window(large.context_window, embedding.window)

    def gather(counts: MergedCounts) -> tuple[InMemoryProducts, float]:
        start = time.process_time()
        products = InMemoryProducts.from_counts(counts, window, estimator.columns(len(counts.vocabulary)))
        return products, time.process_time() - start

    warm, _ = gather(small)  # load the kernels
    spectrum = estimator.factor(warm, small.vocabulary, warm.blocks)
    add_spelling(spectral_table(spectrum), small.vocabulary, embedding.spelling_share, 1)
    del warm, spectrum
    # The words outside the vocabulary are one entry of it, as in the build.
    gather_seconds = gather(small)[1]
    words = len(large.vocabulary)
    products = gather(large)[0]
    metered = MeteredProducts(products)
    start = time.process_time()
    spectrum = estimator.factor(metered, large.vocabulary, products.blocks)
    factored = time.process_time()
    table = add_spelling(spectral_table(spectrum), large.vocabulary, embedding.spelling_share, 1)
    spelled = time.process_time()
    table.to_vectors(large.vocabulary, embedding, {}).save(target)
    rest = time.process_time() - start - (spelled - factored)
    rest -= metered.product_seconds + metered.extend_seconds + metered.algebra_seconds
    landmarks = estimator.rows(words)
    return {
        "embed_entry": (gather_seconds + metered.extend_seconds) / entries,
        "product_entry": metered.product_seconds / max(1, landmark_entries),
        "landmark": metered.algebra_seconds / landmarks,
        "embed_word": max(0.0, rest) / words,
        "spelling_word": (spelled - factored) / min(FIT_WORDS, words),
    }


def _vocabulary(build: str, merged: Segment, options: BuildOptions) -> Vocabulary:
    words = find_candidates([merged], build, options, None, ALL_WORDS_IN_ONE_RANGE, InProcessRuntime())
    return choose_vocabulary(words, merged.total_passages, options)


def _most_frequent_words(build: str, merged: Segment, size: int) -> Vocabulary:
    return _vocabulary(build, merged, BuildOptions(min_count=1, max_vocab_size=size))
