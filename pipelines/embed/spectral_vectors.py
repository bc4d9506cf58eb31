"""Vectors of mode spectral from stored counts: of a fresh factorization, or in the basis of earlier vectors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow.compute as pc
from threadpoolctl import threadpool_limits

from bitcipher.cores import available_cores
from bitcipher.counts.context_window import ContextWindow
from bitcipher.embedding.row_blocks import iter_blocks, sum_in_order
from bitcipher.embedding.spectral.basis import ARRAYS, Basis, closest_rotation
from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.embedding.spectral.spectral_embedding import Products, SpectralEmbedding, Spectrum, check_window
from bitcipher.errors import BitcipherError
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.versions import vectors_of
from bitcipher.vocabulary import Vocabulary
from pipelines.embed.spectral.factorization import factor
from pipelines.embed.spectral.progress import ProgressProducts
from pipelines.embed.spectral.word_ranges import CountPaths
from pipelines.embed.spelled_rows import add_spelling, context_vectors
from pipelines.embed.stage_runner import RunStage, stage_runner
from pipelines.embed.stored_counts import StoredCounts
from pipelines.embed.table_vectors import RawTable, check_summed
from pipelines.embed.write_vectors import write_vectors
from pipelines.options import SPECTRAL, EmbeddingOptions
from pipelines.runtime.costs import Costs
from pipelines.runtime.free_memory import release_memory
from pipelines.runtime.memory_budget import BYTES_PER_WEIGHTED_ENTRY, MemoryBudget
from pipelines.runtime.runtime import Runtime
from pipelines.store.manifest import VectorSizes

Result = TypeVar("Result")

# Largest residual with which `auto` keeps a basis. Measured on books and articles: 0.02 after an update by 1 % of the
# text, 0.05 after ten of them, and 0.07 after 12 % more. With the basis of the books alone, it is 0.16 for all counts,
# and analogies are 5 points worse than with a fresh basis (docs/quality.md).
MAX_RESIDUAL = 0.1

# Smallest share of the directions of a basis that must belong to words of the vocabulary.
MIN_SHARE = 0.5


@dataclass(frozen=True)
class EarlierBasis:
    """Vectors whose basis new vectors keep."""

    vectors: str
    """Folder of the vectors."""
    max_residual: float | None
    """If the residual is above this number, the basis is made anew and rotated to these vectors; None to keep it."""

    def load(self) -> tuple[CipherVectors, Basis]:
        """Return the vectors and their basis.

        Raises:
            BitcipherError: if the vectors are not of mode spectral.
        """
        vectors = CipherVectors.load(self.vectors, verify=True)
        arrays = vectors.refinement or {}
        if not arrays.keys() >= set(ARRAYS) or not isinstance(vectors.manifest.get("axes"), str):
            raise BitcipherError(
                f"{self.vectors} has no basis to keep, because its vectors were not made by mode spectral: name other "
                "vectors."
            )
        return vectors, Basis.from_arrays(arrays)


def earlier_vectors(build: str, version_or_uri: str) -> str:
    """Return the folder of the vectors of a version of a build (its number), of another build, or a folder of vectors.

    Raises:
        BitcipherError: if there are none.
    """
    return vectors_of(build, int(version_or_uri)) if version_or_uri.isdecimal() else vectors_of(version_or_uri)


def check_basis(options: EmbeddingOptions, earlier: EarlierBasis | None) -> None:
    """Check that a basis is given in mode spectral only, and can be kept.

    Raises:
        BitcipherError: if it is given in another mode, or its vectors have none.
    """
    if earlier and options.mode != SPECTRAL:
        raise BitcipherError(f"`basis` is an option of mode spectral, not of mode {options.mode}.")
    if earlier:
        earlier.load()


class SpectralResult(NamedTuple):
    """Saved vectors of mode spectral.

    Attributes:
        sizes: their sizes.
        residual: residual of the earlier basis, even if it was not kept; None without one.
        is_kept: whether the vectors have the earlier basis.
    """

    sizes: VectorSizes
    residual: float | None
    is_kept: bool


@dataclass(frozen=True)
class SpectralJob:
    """Inputs of the factorization of stored counts."""

    counts: StoredCounts
    options: EmbeddingOptions
    work: str
    """Folder for temporary files, which is removed at the end."""
    budget: MemoryBudget
    runtime: Runtime
    costs: Costs
    report: Callable[[str], None]
    """Called with a short description of each finished step."""

    def embed(self, target: str, earlier: EarlierBasis | None = None) -> SpectralResult:
        """Save vectors in a folder, in the basis of earlier vectors if they are given.

        Raises:
            BitcipherError: if the options do not match the counts, or there is too little text.
        """
        vocabulary = self.counts.vocabulary.read()
        release_memory()  # of the file that was read

        def save(spectrum: Spectrum, axes: str | None = None) -> VectorSizes:
            contexts = spectral_table(spectrum, axes)
            table = add_spelling(contexts, vocabulary, self.options.spelling_share, available_cores())
            fields = table.fields(vocabulary, self.options, self.counts.provenance)
            return write_vectors(table, fields, target, self.work, self._run)

        if earlier is None:
            return SpectralResult(self._factor(vocabulary, None, save), None, False)
        vectors, basis = earlier.load()
        residual = 1.0
        if basis.share_in(vocabulary) >= MIN_SHARE:

            def save_if_kept(spectrum: Spectrum) -> tuple[float, VectorSizes | None]:
                is_kept = earlier.max_residual is None or spectrum.residual <= earlier.max_residual
                return spectrum.residual, save(spectrum, vectors.manifest["axes"]) if is_kept else None

            residual, sizes = self._factor(vocabulary, basis, save_if_kept)
            if sizes:
                return SpectralResult(sizes, residual, True)
        elif earlier.max_residual is None:
            raise BitcipherError(
                f"The basis of {earlier.vectors} cannot be kept, because the vocabulary has too few of its words: make "
                "a new one with `--basis refresh`, or name other vectors."
            )
        sizes = self._factor(vocabulary, None, lambda spectrum: save(rotate_to(spectrum, vocabulary, vectors)))
        return SpectralResult(sizes, residual, False)

    def _factor(
        self, vocabulary: Vocabulary, basis: Basis | None, use_spectrum: Callable[[Spectrum], Result]
    ) -> Result:
        """Factor the counts: in this process if they fit, unless there is a cluster; else in ranges of words.

        Args:
            vocabulary: words of the counts.
            basis: the basis to keep, or None.
            use_spectrum: called with the factorization, whose files are removed afterwards; returns the result.
        """
        counts = self.counts
        check_summed(self.options, counts.context_window)
        window = ContextWindow(check_window(counts.context_window, self.options.window), counts.context_window.summed)
        estimator = self.options.estimator()
        assert isinstance(estimator, SpectralEmbedding)  # the caller has checked the mode
        columns = basis.columns(vocabulary) if basis else estimator.columns(len(vocabulary))

        def use_products(products: Products, blocks: int) -> Result:
            products = ProgressProducts(products, self.report)
            if basis:
                return use_spectrum(estimator.factor_in_basis(products, vocabulary, blocks, basis))
            return use_spectrum(estimator.factor(products, vocabulary, blocks))

        row_bytes = estimator.vector_size * np.dtype(np.float32).itemsize
        table_entries = len(vocabulary) * row_bytes // BYTES_PER_WEIGHTED_ENTRY
        if self.runtime.is_local and counts.entries + table_entries <= self.budget.weighted_entries:
            threads = available_cores()
            products = InMemoryProducts.from_counts(counts.open(threads), window.size, columns, threads)
            return use_products(products, products.blocks)
        return factor(
            CountPaths(counts.vocabulary, counts.segments, self.work),
            vocabulary.words,
            window,
            columns,
            use_products,
            self.budget.range_entries,
            row_bytes,
            self._run,
            is_one_product=basis is not None,
        )

    @property
    def _run(self) -> RunStage:
        # In process, the caller measures the cost of the stages together with that of the linear algebra.
        return stage_runner(self.runtime, self.costs.add if self.runtime.workers else lambda result: None)


def spectral_table(spectrum: Spectrum, axes: str | None = None) -> RawTable:
    """Return the table of a factorization. Its vectors are the raw rows, scaled to length 1; rows of zeros stay zeros.

    Args:
        spectrum: the factorization.
        axes: the field `axes` of the manifest of the vectors whose basis was kept; None for a new basis.

    Raises:
        BitcipherError: if the table has no dimension.
    """
    if not spectrum.images.shape[1]:
        raise BitcipherError(
            "No two words of the counts occur together more often than by chance, so there are no vectors: use more "
            "text."
        )
    basis = spectrum.basis
    provenance = {"axes": axes or basis.digest}
    contexts = ContextVectors.of_spectrum(spectrum)
    return RawTable(spectrum.images, spectrum.rows, basis.to_arrays(), provenance, contexts)


@threadpool_limits.wrap(limits=1)
def rotate_to(spectrum: Spectrum, vocabulary: Vocabulary, earlier: CipherVectors) -> Spectrum:
    """Rotate a fresh factorization such that the words that it shares with earlier vectors are as close as possible.

    Words are weighted by their counts. The spelling is left out, because n-grams are fitted after the rotation. If the
    numbers of dimensions differ, nothing is rotated. The rows of both tables are read in blocks.
    """
    if spectrum.images.shape[1] != earlier.vector_size:
        return spectrum
    rows = np.asarray(pc.index_in(vocabulary.words, earlier.words).fill_null(-1), np.int64)
    weights = vocabulary.counts.astype(np.float32)

    def products() -> Iterator[np.ndarray]:
        for start, images in iter_blocks(spectrum.images, 0, len(rows)):
            matched = rows[start : start + len(images)]
            shared = np.flatnonzero(matched >= 0)
            units = spectrum.rows(images)[shared] * weights[start + shared][:, None]
            yield units.T @ context_vectors(earlier, matched[shared])

    return spectrum.rotate(closest_rotation(sum_in_order(products())))
