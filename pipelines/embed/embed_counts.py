"""Vectors from stored counts, for `bitcipher build`, `bitcipher update` and `bitcipher embed`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.cipher_embedding import SUMS_BYTES
from bitcipher.embedding.refinement import Refinement
from bitcipher.embedding.row_blocks import ArrayRows
from bitcipher.embedding.spectral.spectral_embedding import PRODUCTS, SpectralEmbedding
from bitcipher.files import storage
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.embed.cipher_ranges import cipher_table
from pipelines.embed.spectral.word_ranges import CountPaths
from pipelines.embed.spectral_vectors import EarlierBasis, SpectralJob, check_basis, earlier_vectors, spectral_table
from pipelines.embed.spelled_rows import add_spelling
from pipelines.embed.stage_runner import stage_runner
from pipelines.embed.stored_counts import StoredCounts
from pipelines.embed.table_memory import prefers_ranges, sums_bytes
from pipelines.embed.table_vectors import RawTable, check_summed
from pipelines.embed.write_vectors import write_vectors
from pipelines.options import SPECTRAL, EmbeddingOptions
from pipelines.runtime.costs import Costs
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime, StageSpec
from pipelines.store.manifest import VectorSizes, read_manifest
from pipelines.store.removal import leasing_work, remove_abandoned_work

# Increase this number when the same counts and options give other vectors. A test compares vectors, and fails after
# such a change.
EMBEDDING_VERSION = 1


@dataclass(frozen=True)
class EmbeddedVectors:
    """Vectors that were saved."""

    sizes: VectorSizes
    residual: float | None = None
    """Residual of the earlier basis; None without one."""
    is_kept: bool = False
    """Whether the vectors have the earlier basis."""


class EmbedStage:
    """Stage that makes the vectors of modes cat, sum and cipher in one worker, with the whole table in memory.

    Args:
        counts: stored counts of a version.
        options: options of the vectors.
        work: folder for temporary files.
        sums_bytes: maximum bytes of sums in memory beside the table.
    """

    def __init__(self, counts: StoredCounts, options: EmbeddingOptions, work: str, sums_bytes: int):
        self._counts = counts
        self._sums_bytes = sums_bytes
        self._work = work
        self._options = options

    def __call__(self, target: str) -> Iterator[VectorSizes]:
        """Save the vectors in a folder, and yield their sizes."""
        counts, provenance = self._counts.open(), self._counts.provenance
        table = raw_table(counts, self._options, self._sums_bytes)
        fields = table.fields(counts.vocabulary, self._options, provenance)
        yield write_vectors(table, fields, target, self._work, stage_runner(InProcessRuntime()))


def embed(counts: MergedCounts, options: EmbeddingOptions, provenance: dict[str, Any]) -> CipherVectors:
    """Compute vectors in this process, with all arrays in memory.

    Args:
        counts: merged counts of a version.
        options: options of the vectors.
        provenance: fields for the manifest of the vectors.

    Raises:
        BitcipherError: if the options do not match the counts, or there is too little text.
    """
    return raw_table(counts, options).to_vectors(counts.vocabulary, options, provenance)


def raw_table(counts: MergedCounts, options: EmbeddingOptions, sums_bytes: int = SUMS_BYTES) -> RawTable:
    """Compute the raw rows of all words in this process, with all arrays in memory.

    Args:
        counts: merged counts of a version.
        options: options of the vectors.
        sums_bytes: in modes cat, sum and cipher, maximum bytes of sums in memory beside the table.

    Raises:
        BitcipherError: if the options do not match the counts, or there is too little text.
    """
    check_summed(options, counts.context_window)
    estimator = options.estimator()
    if isinstance(estimator, SpectralEmbedding):
        table = spectral_table(estimator.table(counts, options.window))
        return add_spelling(table, counts.vocabulary, options.spelling_share, 1)
    table = estimator.table(counts, sums_bytes)
    refinement = Refinement().fit(table)
    return RawTable(ArrayRows(table), refinement.transform, refinement.arrays, {})


def embed_build(
    build: str,
    target: str,
    changes: dict[str, Any],
    memory_mib: int,
    runtime: Runtime,
    progress: StageProgress,
    version: int | None = None,
    basis: str | None = None,
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
        basis: version of the build (its number), another build, or a folder of vectors, whose basis is kept.

    Raises:
        BitcipherError: if the target exists, an option belongs to another mode, the options do not match the counts,
            or there is too little text.
    """
    build, target = storage.absolute(build), storage.absolute(target)
    manifest = read_manifest(build, version)
    remove_abandoned_work(target)
    storage.check_new(target)
    options = manifest.options.embedding.derive(changes)
    earlier = None if basis is None else EarlierBasis(earlier_vectors(build, basis), None)
    check_basis(options, earlier)
    with leasing_work(target) as work:
        vectors = storage.join(work, "vectors")
        embedded = embed_counts(
            StoredCounts.of_version(build, manifest),
            options,
            vectors,
            storage.join(work, "products"),
            MemoryBudget(memory_mib, runtime.threads),
            runtime,
            progress,
            Costs(),
            earlier,
        )
        storage.move(vectors, target)
    return embedded.sizes


def embed_counts(
    counts: StoredCounts,
    options: EmbeddingOptions,
    target: str,
    work: str,
    budget: MemoryBudget,
    runtime: Runtime,
    progress: StageProgress,
    costs: Costs,
    earlier: EarlierBasis | None = None,
) -> EmbeddedVectors:
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
        earlier: vectors whose basis is kept, in mode spectral.
    """
    # Steps: weighting, the product with the code, and the products of the iteration.
    bar = progress.begin("embed", 1 + 1 + PRODUCTS)

    def report(note: str) -> None:
        progress.advance(bar, 1, note)

    try:
        if options.mode == SPECTRAL:
            with costs.measure("embed"):
                job = SpectralJob(counts, options, work, budget, runtime, costs, report)
                embedded = EmbeddedVectors(*job.embed(target, earlier))
        else:
            embedded = EmbeddedVectors(_embed_ciphers(counts, options, target, work, budget, runtime, costs))
    finally:
        storage.remove(work)
    report(f"{embedded.sizes.words:,} × {embedded.sizes.dimensions}")
    progress.end(bar)
    return embedded


def _embed_ciphers(
    counts: StoredCounts,
    options: EmbeddingOptions,
    target: str,
    work: str,
    budget: MemoryBudget,
    runtime: Runtime,
    costs: Costs,
) -> VectorSizes:
    """Save vectors of mode cat, sum or cipher: in one worker if the table fits in its memory, else in ranges of words.

    The arguments are those of `embed_counts`.
    """
    check_summed(options, counts.context_window)
    vocabulary = counts.vocabulary.read()
    sums = sums_bytes(len(vocabulary), counts.types, options, budget)
    if sums is not None and not prefers_ranges(counts.entries, budget, runtime):
        arguments = {"counts": counts, "options": options, "work": work, "sums_bytes": sums}
        (result,) = runtime.stream(StageSpec("embed", EmbedStage, arguments), [target])
        costs.add(result)
        return result.value
    run = stage_runner(runtime, costs.add)
    paths = CountPaths(counts.vocabulary, counts.segments, work)
    table = cipher_table(paths, counts.context_window, options, budget.range_entries, run)
    return write_vectors(table, table.fields(vocabulary, options, counts.provenance), target, work, run)
