"""Vectors of mode spectral from stored counts: of a fresh factorization, or in the basis of earlier vectors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bitcipher.counts import ContextWindow
from bitcipher.embedding.spectral import InMemoryProducts, Products, SpectralEmbedding, Spectrum, check_window
from bitcipher.embedding.spectral.basis import ARRAYS, Basis, find_rotation
from bitcipher.errors import BitcipherError
from bitcipher.evaluation.neighbors import match_rows
from bitcipher.vectors import CipherVectors
from bitcipher.versions import vectors_of
from bitcipher.vocabulary import Vocabulary
from pipelines.embed import spectral
from pipelines.embed.spectral import ProgressProducts
from pipelines.embed.stored_counts import StoredCounts
from pipelines.embed.table_vectors import check_summed, table_vectors
from pipelines.options import SPECTRAL, EmbeddingOptions
from pipelines.runtime.costs import Costs
from pipelines.runtime.machine_size import available_cores
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.runtime import Runtime

# Largest residual with which `auto` keeps a basis. Measured on books and articles: 0.02 after an update by 1 % of the
# text, 0.05 after ten of them, and 0.07 after 12 % more. With the basis of the books alone, it is 0.16 for all counts,
# and analogies are 5 points worse than with a fresh basis (bitcipher/evaluation/README.md).
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


class SpectralVectors(NamedTuple):
    """Vectors of mode spectral.

    Attributes:
        vectors: the vectors.
        residual: residual of the earlier basis, even if it was not kept; None without one.
        is_kept: whether the vectors have the earlier basis.
    """

    vectors: CipherVectors
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

    def embed(self, earlier: EarlierBasis | None = None) -> SpectralVectors:
        """Return vectors, in the basis of earlier vectors if they are given.

        Raises:
            BitcipherError: if the options do not match the counts, or there is too little text.
        """
        vocabulary = self.counts.vocabulary.read()
        if earlier is None:
            return SpectralVectors(self._vectors(vocabulary, self._factor(vocabulary, None)), None, False)
        vectors, basis = earlier.load()
        if basis.share_in(vocabulary) >= MIN_SHARE:
            spectrum = self._factor(vocabulary, basis)
            if earlier.max_residual is None or spectrum.residual <= earlier.max_residual:
                kept = self._vectors(vocabulary, spectrum, vectors.manifest["axes"])
                return SpectralVectors(kept, spectrum.residual, True)
            residual = spectrum.residual
        elif earlier.max_residual is None:
            raise BitcipherError(
                f"The basis of {earlier.vectors} cannot be kept, because the vocabulary has too few of its words: make "
                "a new one with `--basis refresh`, or name other vectors."
            )
        else:
            residual = 1.0
        spectrum = _rotate_to(self._factor(vocabulary, None), vocabulary, vectors)
        return SpectralVectors(self._vectors(vocabulary, spectrum), residual, False)

    def _factor(self, vocabulary: Vocabulary, basis: Basis | None) -> Spectrum:
        """Factor the counts: in this process if they fit, unless there is a cluster; else in ranges of words."""
        counts = self.counts
        check_summed(self.options, counts.context_window)
        window = ContextWindow(check_window(counts.context_window, self.options.window), counts.context_window.summed)
        estimator = self.options.estimator()
        assert isinstance(estimator, SpectralEmbedding)  # the caller has checked the mode
        columns = basis.columns(vocabulary) if basis else estimator.columns(len(vocabulary))

        def use_products(products: Products, blocks: int) -> Spectrum:
            products = ProgressProducts(products, self.report)
            if basis:
                return estimator.factor_in_basis(products, vocabulary, blocks, basis)
            return estimator.factor(products, vocabulary, blocks)

        if self.runtime.is_local and counts.entries <= self.budget.weighted_entries:
            threads = available_cores()
            products = InMemoryProducts.from_counts(counts.open(threads), window.size, columns, threads)
            return use_products(products, products.blocks)
        return spectral.factor(
            spectral.CountPaths(counts.vocabulary, counts.segments, self.work),
            window,
            columns,
            use_products,
            self.budget.range_entries,
            self.runtime,
            # In process, the caller measures the cost of the stages together with that of the linear algebra.
            self.costs.add if self.runtime.workers else lambda result: None,
        )

    def _vectors(self, vocabulary: Vocabulary, spectrum: Spectrum, axes: str | None = None) -> CipherVectors:
        return spectral_vectors(vocabulary, spectrum, self.options, self.counts.provenance, axes)


def spectral_vectors(
    vocabulary: Vocabulary,
    spectrum: Spectrum,
    options: EmbeddingOptions,
    provenance: dict[str, Any],
    axes: str | None = None,
) -> CipherVectors:
    """Return the vectors of a spectral table: its rows, scaled to length 1. Rows of zeros are not changed.

    Args:
        vocabulary: words of the rows.
        spectrum: the table and its basis.
        options: options of the vectors.
        provenance: fields for the manifest of the vectors.
        axes: the field `axes` of the manifest of the vectors whose basis was kept; None for a new basis.

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
    provenance = {**provenance, "axes": axes or spectrum.basis.digest}
    return table_vectors(vocabulary, unit, spectrum.basis.to_arrays(), options, provenance)


def _rotate_to(spectrum: Spectrum, vocabulary: Vocabulary, earlier: CipherVectors) -> Spectrum:
    """Rotate a fresh factorization such that the words that it shares with earlier vectors are as close as possible.

    Words are weighted by their counts. If the numbers of dimensions differ, nothing is rotated.
    """
    table = spectrum.table
    if table.shape[1] != earlier.vector_size:
        return spectrum
    norms = np.maximum(np.linalg.norm(table, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    rows = match_rows(CipherVectors(vocabulary.words, table), earlier)
    shared = np.flatnonzero(rows >= 0)
    units = table[shared] / norms[shared]
    rotation = find_rotation(units, np.asarray(earlier.vectors)[rows[shared]], vocabulary.counts[shared])
    return spectrum.rotate(rotation)
