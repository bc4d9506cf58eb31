"""Vectors from stored counts, for `bitcipher build`, `bitcipher update` and `bitcipher embed`."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bitcipher import storage
from bitcipher.counts import ContextWindow, MergedCounts
from bitcipher.embedding import Refinement
from bitcipher.embedding.spectral import InMemoryProducts, SpectralEmbedding, Spectrum, check_window
from bitcipher.embedding.spectral.spectral_embedding import PRODUCTS
from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import Vocabulary
from pipelines.embed import spectral
from pipelines.embed.spectral import ProgressProducts
from pipelines.embed.stored_counts import StoredCounts
from pipelines.options import SPECTRAL, EmbeddingOptions
from pipelines.runtime.costs import Costs
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime, StageSpec
from pipelines.store.manifest import VectorSizes, read_manifest
from pipelines.store.removal import leasing_work, remove_abandoned_work


class EmbedStage:
    """Stage that makes the vectors of modes cat, sum and cipher in one worker, with the whole table in memory.

    Args:
        counts: stored counts of a version.
        options: options of the vectors.
    """

    def __init__(self, counts: StoredCounts, options: EmbeddingOptions):
        self._counts = counts
        self._options = options

    def __call__(self, target: str) -> Iterator[VectorSizes]:
        """Save the vectors in a folder, and yield their sizes."""
        yield _save(embed(self._counts.open(), self._options, self._counts.provenance), target)


def embed(counts: MergedCounts, options: EmbeddingOptions, provenance: dict[str, Any]) -> CipherVectors:
    """Compute vectors in this process, with all arrays in memory.

    Args:
        counts: merged counts of a version.
        options: options of the vectors.
        provenance: fields for the manifest of the vectors.

    Raises:
        BitcipherError: if the options do not match the counts, or there is too little text.
    """
    _check_summed(options, counts.context_window)
    estimator = options.estimator()
    if isinstance(estimator, SpectralEmbedding):
        spectrum = estimator.table(counts, options.window)
        return _spectral_vectors(counts.vocabulary, spectrum, options, provenance)
    refinement = Refinement()
    table = refinement.fit_transform(estimator.table(counts))
    learned = {"mean": refinement.mean_, "matrix": refinement.matrix_}
    return _make_vectors(counts.vocabulary, table, learned, options, provenance)


def embed_build(
    build: str,
    target: str,
    changes: dict[str, Any],
    memory_mib: int,
    runtime: Runtime,
    progress: StageProgress,
    version: int | None = None,
) -> VectorSizes:
    """Make vectors with other options from the counts of a build.

    Args:
        build: folder of the build.
        target: folder for the vectors, which must not exist.
        changes: values of `EmbeddingOptions`. The other options are those of the build.
        memory_mib: memory of each worker in MiB.
        runtime: runtime of the stages.
        progress: progress bars.
        version: version of the build; the newest if not given.

    Raises:
        BitcipherError: if the target exists, an option belongs to another mode, the options do not match the counts,
            or there is too little text.
    """
    build, target = storage.absolute(build), storage.absolute(target)
    manifest = read_manifest(build, version)
    remove_abandoned_work(target)
    storage.check_new(target)
    options = manifest.options.embedding.derive(changes)
    with leasing_work(target) as work:
        vectors = storage.join(work, "vectors")
        sizes = embed_counts(
            StoredCounts.of_version(build, manifest),
            options,
            vectors,
            storage.join(work, "products"),
            MemoryBudget(memory_mib),
            runtime,
            progress,
            Costs(runtime.workers),
        )
        storage.move(vectors, target)
    return sizes


def embed_counts(
    counts: StoredCounts,
    options: EmbeddingOptions,
    target: str,
    work: str,
    budget: MemoryBudget,
    runtime: Runtime,
    progress: StageProgress,
    costs: Costs,
) -> VectorSizes:
    """Make vectors from stored counts, and save them.

    Args:
        counts: stored counts of a version.
        options: options of the vectors.
        target: folder for the vectors.
        work: folder for temporary files, which is removed at the end.
        budget: memory of each worker.
        runtime: runtime of the stages.
        progress: progress bars.
        costs: accumulator of the costs.
    """
    # Steps: weighting, the product with the code, and the products of the iteration.
    bar = progress.begin("embed", 1 + 1 + PRODUCTS)

    def report(note: str) -> None:
        progress.advance(bar, 1, note)

    if options.mode == SPECTRAL:
        with costs.measure("embed"):
            spectrum = _factor(counts, options, work, budget, runtime, costs, report)
            vocabulary = counts.vocabulary.read()
            sizes = _save(_spectral_vectors(vocabulary, spectrum, options, counts.provenance), target)
    else:
        spec = StageSpec("embed", EmbedStage, {"counts": counts, "options": options})
        (result,) = runtime.stream(spec, [target])
        costs.add(result)
        sizes = result.value
    report(f"{sizes.words:,} × {sizes.dimensions}")
    progress.end(bar)
    return sizes


def _factor(
    counts: StoredCounts,
    options: EmbeddingOptions,
    work: str,
    budget: MemoryBudget,
    runtime: Runtime,
    costs: Costs,
    report: Callable[[str], None],
) -> Spectrum:
    """Factor counts: in memory if they fit and there are no workers, else in ranges of words."""
    _check_summed(options, counts.context_window)
    context_window = ContextWindow(check_window(counts.context_window, options.window), counts.context_window.summed)
    estimator = options.estimator()
    assert isinstance(estimator, SpectralEmbedding)  # the caller has checked the mode
    if runtime.workers == 0 and counts.entries <= budget.weighted_entries:
        merged = counts.open()
        products = InMemoryProducts.from_counts(merged, context_window.size)
        return estimator.factor(ProgressProducts(products, report), len(merged.vocabulary), products.blocks)
    return spectral.factor(
        spectral.CountPaths(counts.vocabulary, counts.segments, work),
        context_window,
        estimator,
        budget.range_entries,
        runtime,
        # In process, the caller measures the cost of the stages together with that of the linear algebra.
        costs.add if runtime.workers else lambda result: None,
        lambda products: ProgressProducts(products, report),
    )


def _check_summed(options: EmbeddingOptions, context_window: ContextWindow) -> None:
    conflict = options.conflict_with_summed()
    if context_window.summed and conflict:
        raise BitcipherError(conflict)


def _spectral_vectors(
    vocabulary: Vocabulary, spectrum: Spectrum, options: EmbeddingOptions, provenance: dict[str, Any]
) -> CipherVectors:
    """Return the vectors of a spectral table: its rows, scaled to length 1. Rows of zeros are not changed.

    Raises:
        BitcipherError: if the table has no dimension.
    """
    table = spectrum.table
    if not table.shape[1]:
        raise BitcipherError(
            "No two words of the counts occur together more often than by chance, so there are no vectors: use more "
            "text."
        )
    norms = np.sqrt(np.einsum("ij,ij->i", table, table, dtype=np.float64))[:, None]
    unit = np.divide(table, norms, out=np.zeros_like(table), where=norms > 0, casting="same_kind")
    return _make_vectors(vocabulary, unit, {"directions": spectrum.directions}, options, provenance)


def _make_vectors(
    vocabulary: Vocabulary,
    table: np.ndarray,
    learned: dict[str, np.ndarray],
    options: EmbeddingOptions,
    provenance: dict[str, Any],
) -> CipherVectors:
    return CipherVectors(
        vocabulary.words,
        table,
        vocabulary.counts,
        vocabulary.passages,
        refinement=learned,
        manifest={**provenance, "total_passages": vocabulary.total_passages, "embedding": options.to_dict()},
    )


def _save(vectors: CipherVectors, target: str) -> VectorSizes:
    vectors.save(target)
    empty = int((~vectors.vectors.any(axis=1)).sum())
    return VectorSizes(words=len(vectors), dimensions=vectors.vector_size, empty_words=empty)
