"""Vectors of a new version: made from its counts, or those of an earlier version."""

from dataclasses import dataclass

from bitcipher.files import storage
from bitcipher.table.manifest import TableManifest
from bitcipher.table.vector_files import vectors_digest
from bitcipher.version_manifest import VectorsReference
from bitcipher.versions import VECTORS
from pipelines.builds.job import Job
from pipelines.builds.version_drift import DriftStage, check_drift
from pipelines.embed.embed_counts import EmbeddedVectors, embed_counts
from pipelines.embed.spectral_vectors import MAX_RESIDUAL, EarlierBasis
from pipelines.embed.stored_counts import StoredCounts
from pipelines.options import SPECTRAL, UpdateOptions
from pipelines.runtime.runtime import StageSpec
from pipelines.store.manifest import BasisState, Drift, VectorSizes


@dataclass(frozen=True)
class VersionVectors:
    """Fields of a version's manifest that describe its vectors."""

    reference: VectorsReference | None = None
    """Reference to the vectors; None if no version has made vectors yet."""
    sha256: str | None = None
    """SHA-256 of the file of vectors, or of the index of several files."""
    sizes: VectorSizes | None = None
    basis: BasisState | None = None
    drift: Drift | None = None
    drift_from: int | None = None
    """Version from whose vectors the drift was measured."""


def reuse_vectors(job: Job) -> VersionVectors:
    """Return the vectors of the previous version, for a version without vectors of its own."""
    base = job.base
    if base is None:
        return VersionVectors()
    return VersionVectors(base.vectors_from, base.digests.vectors, base.vectors, base.basis)


def make_vectors(job: Job, counts: StoredCounts, options: UpdateOptions) -> VersionVectors:
    """Make the vectors of a version from its counts, and measure the drift from the previous vectors.

    Args:
        job: the job that makes the version.
        counts: counts of the version.
        options: options of the update.

    Raises:
        DriftError: if the drift is above the maximum.
        BitcipherError: if the options do not match the counts, or there is too little text.
    """
    embedded = embed_counts(
        counts,
        job.options.embedding,
        job.file(VECTORS),
        job.work_folder(),
        job.budget,
        job.runtime,
        job.progress,
        job.costs,
        _earlier_basis(job, options),
    )
    previous = job.base and job.base.vectors_from
    drift = _measure_drift(job, options.max_drift, embedded.is_kept)
    return VersionVectors(
        reference=VectorsReference(version=job.version, folder=storage.join(job.folder, VECTORS)),
        sha256=vectors_digest(TableManifest.read(job.file(VECTORS)).files),
        sizes=embedded.sizes,
        basis=_basis_state(job, embedded),
        drift=drift,
        drift_from=previous.version if previous else None,
    )


def _earlier_basis(job: Job, options: UpdateOptions) -> EarlierBasis | None:
    """Return the previous vectors if there are any, and their axes can be kept."""
    if not job.base or not job.base.vectors_from or job.options.mode != SPECTRAL or options.basis == "refresh":
        return None
    return EarlierBasis(job.base.vectors_folder(job.build), None if options.basis == "keep" else MAX_RESIDUAL)


def _basis_state(job: Job, embedded: EmbeddedVectors) -> BasisState | None:
    if job.options.mode != SPECTRAL:
        return None
    kept = job.base.basis if job.base and embedded.is_kept else None
    return BasisState(version=kept.version if kept else job.version, residual=embedded.residual)


def _measure_drift(job: Job, max_drift: float | None, is_kept: bool) -> Drift | None:
    """Return the drift from the previous vectors; None if there are none.

    Args:
        job: the job that makes the version.
        max_drift: maximum fraction of neighbors that may change, or None.
        is_kept: whether the vectors have the axes of the previous vectors.

    Raises:
        DriftError: if the drift is above the maximum.
    """
    if not job.base or not job.base.vectors_from:
        return None
    spec = StageSpec("drift", DriftStage, {"before": job.base.vectors_folder(job.build), "same_axes": is_kept})
    (result,) = job.runtime.stream(spec, [job.file(VECTORS)])
    job.costs.add(result)
    check_drift(job.build, result.value, max_drift)
    return result.value
