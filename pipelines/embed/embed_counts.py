"""From counts to vectors: a stage of every job, and all of `bitcipher embed`."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bitcipher import storage
from bitcipher.counts import ContextWindow, MergedCounts
from bitcipher.embedding import Refinement
from bitcipher.embedding.spectral import InMemoryProducts, Spectrum, check_window
from bitcipher.embedding.spectral.spectral_embedding import PRODUCTS
from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import Vocabulary
from pipelines.embed import spectral
from pipelines.embed.spectral import ProgressProducts
from pipelines.merge.merged_counts import open_merged, read_vocabulary
from pipelines.options import SPECTRAL, BuildOptions, EmbeddingOptions
from pipelines.runtime.costs import Costs
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Row, Runtime, StageSpec
from pipelines.store import layout


@dataclass(frozen=True)
class StoredCounts:
    """The counts of a version, and what is written down of them with vectors that are made of them."""

    vocabulary: str
    """Its file."""
    segments: list[list[str]]
    """The parts of each segment, by URI."""
    context_window: ContextWindow
    entries: int
    """Pairs of all segments."""
    provenance: dict[str, Any]

    @classmethod
    def of(cls, build: str, manifest: Row) -> "StoredCounts":
        """Those of a version."""
        digests = {name: manifest["digests"][name] for name in ("words", "counts")}
        return cls(
            vocabulary=layout.version_file(build, manifest, layout.WORDS),
            segments=[[storage.join(build, part) for part in s["parts"]] for s in manifest["segments"]],
            context_window=BuildOptions.parse(manifest["options"], build).context_window,
            entries=sum(segment["entries"] for segment in manifest["segments"]),
            provenance={**{n: manifest[n] for n in ("bitcipher", "options", "tokens")}, "digests": digests},
        )

    def open(self) -> MergedCounts:
        """As one."""
        return open_merged(read_vocabulary(self.vocabulary), self.context_window, self.segments)


class EmbedStage:
    """Makes vectors of a version's counts in one worker: those of codes, whose sums it holds.

    Args:
        counts: the values of `StoredCounts`, those of the window among them.
        options: of the vectors.
    """

    def __init__(self, counts: dict[str, Any], options: EmbeddingOptions):
        self._counts = StoredCounts(**{**counts, "context_window": ContextWindow(**counts["context_window"])})
        self._options = options

    def __call__(self, row: Row) -> Iterator[Row]:
        """From the target's name to the sizes of the vectors that were saved there."""
        vectors, empty = embed(self._counts.open(), self._options, self._counts.provenance)
        yield _save(vectors, empty, row["target"])


def embed(counts: MergedCounts, options: EmbeddingOptions, provenance: dict[str, Any]) -> tuple[CipherVectors, int]:
    """The vectors of counts, made in this process, and how many words have none (see `_vectors`)."""
    if options.mode == SPECTRAL:
        _check_summed(options, counts.context_window)
        spectrum = options.estimator().table(counts, options.window)
        return _spectral_vectors(counts.vocabulary, spectrum, options, provenance)
    refinement = Refinement()
    table = refinement.fit_transform(options.estimator().table(counts))
    learnt = {"mean": refinement.mean_, "matrix": refinement.matrix_}
    return _vectors(counts.vocabulary, table, learnt, options, provenance)


def _spectral_vectors(
    vocabulary: Vocabulary, spectrum: Spectrum, options: EmbeddingOptions, provenance: dict[str, Any]
) -> tuple[CipherVectors, int]:
    """The rows of a spectral table at length 1, rows of zeros as they are, with what new words are mapped with.

    Raises:
        BitcipherError: if the table has no dimension.
    """
    table = spectrum.table
    if not table.shape[1]:
        raise BitcipherError(
            "No two words of these counts stand together more often than by chance, so there is nothing to make "
            "vectors of: give more text."
        )
    norms = np.sqrt(np.einsum("ij,ij->i", table, table, dtype=np.float64))[:, None]
    unit = np.divide(table, norms, out=np.zeros_like(table), where=norms > 0, casting="same_kind")
    return _vectors(vocabulary, unit, {"directions": spectrum.directions}, options, provenance)


def _vectors(
    vocabulary: Vocabulary,
    table: np.ndarray,
    learnt: dict[str, np.ndarray],
    options: EmbeddingOptions,
    provenance: dict[str, Any],
) -> tuple[CipherVectors, int]:
    """The vectors, and how many words have one of zeros, since nothing ever stood around them that tells anything."""
    vectors = CipherVectors(
        vocabulary.words,
        table,
        vocabulary.counts,
        vocabulary.passages,
        refinement=learnt,
        manifest={**provenance, "total_passages": vocabulary.total_passages, "embedding": options.to_dict()},
    )
    return vectors, int((~table.any(axis=1)).sum())


def _save(vectors: CipherVectors, empty: int, target: str) -> Row:
    vectors.save(target)
    return {"words": len(vectors), "dimensions": vectors.vector_size, "empty_words": empty}


def embed_build(
    build: str,
    target: str,
    chosen: dict[str, Any],
    memory_mib: int,
    runtime: Runtime,
    progress: StageProgress,
    version: int | None = None,
) -> Row:
    """Make other vectors of a build's kept counts.

    Args:
        build: the folder of the build.
        target: the folder of the new vectors.
        chosen: values of `EmbeddingOptions`; what is left out is as in the build.
        memory_mib: of each worker.
        runtime: where to run.
        progress: where to show how far it is.
        version: of the build; the newest if not given.

    Returns:
        The words, dimensions, and words without a vector.
    """
    build, target = storage.absolute(build), storage.absolute(target)
    manifest = layout.read_manifest(build, version)
    if storage.exists(target):
        raise BitcipherError(f"{target} is already there: choose another name, or remove it first.")
    options = BuildOptions.parse(manifest["options"], build).embedding.derive(chosen, target)
    work = f"{target}.work"
    storage.remove(work)  # of one that was killed
    try:
        return embed_counts(
            StoredCounts.of(build, manifest),
            options,
            target,
            storage.join(work, uuid.uuid4().hex[:8]),
            MemoryBudget(memory_mib),
            runtime,
            progress,
            Costs(runtime.workers),
        )
    finally:
        storage.remove(work)


def embed_counts(
    counts: StoredCounts,
    options: EmbeddingOptions,
    target: str,
    work: str,
    budget: MemoryBudget,
    runtime: Runtime,
    progress: StageProgress,
    costs: Costs,
) -> Row:
    """Make vectors of kept counts, and save them.

    Args:
        counts: of a version.
        options: the vectors that are wanted.
        target: the folder of the vectors.
        work: a folder of one's own for what is needed for a moment, which is removed in the end.
        budget: of each worker.
        runtime: where to run.
        progress: where to show how far it is.
        costs: where to add what it took.

    Returns:
        The words, dimensions, and words without a vector.
    """
    # Weighing, and the product of the code and those of the method.
    bar = progress.begin("embed", 1 + 1 + PRODUCTS)

    def tell(note: str) -> None:
        progress.advance(bar, 1, note)

    if options.mode == SPECTRAL:
        with costs.measured("embed"):
            spectrum = _factor(counts, options, work, budget, runtime, costs, tell)
            vocabulary = read_vocabulary(counts.vocabulary)
            sizes = _save(*_spectral_vectors(vocabulary, spectrum, options, counts.provenance), target)
    else:
        stage = StageSpec("embed", EmbedStage, {"counts": asdict(counts), "options": options})
        (sizes,) = runtime.stream(stage, [{"target": target}])
        costs.add(sizes.pop("costs"))
    tell(f"{sizes['words']:,} × {sizes['dimensions']}")
    progress.end(bar)
    return sizes


def _factor(
    counts: StoredCounts,
    options: EmbeddingOptions,
    work: str,
    budget: MemoryBudget,
    runtime: Runtime,
    costs: Costs,
    tell: Callable[[str], None],
) -> Spectrum:
    """Factor counts: in memory if they are few and this process works alone, else range by range."""
    _check_summed(options, counts.context_window)
    context_window = ContextWindow(check_window(counts.context_window, options.window), counts.context_window.summed)
    embedding = options.estimator()
    if runtime.workers == 0 and counts.entries <= budget.weighted_entries:
        merged = counts.open()
        products = InMemoryProducts.from_counts(merged, context_window.size)
        return embedding.factor(ProgressProducts(products, tell), len(merged.vocabulary), products.blocks)
    return spectral.factor(
        spectral.CountPaths(counts.vocabulary, counts.segments, work),
        context_window,
        embedding,
        budget.range_entries,
        runtime,
        # In this process, what stages take is measured around them.
        costs.add if runtime.workers else lambda spent: None,
        lambda products: ProgressProducts(products, tell),
    )


def _check_summed(options: EmbeddingOptions, context_window: ContextWindow) -> None:
    conflict = options.conflict_with_summed()
    if context_window.summed and conflict:
        raise BitcipherError(conflict)
