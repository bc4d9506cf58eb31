"""Vectors together with the counts that they were made from."""

from typing import NamedTuple

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.versions import vectors_of, versions
from pipelines.embed.stored_counts import StoredCounts
from pipelines.options import BuildOptions
from pipelines.store.manifest import BuildManifest, read_manifest


class VectorsWithCounts(NamedTuple):
    """Vectors, the counts that they were made from, and the options of the build."""

    vectors: CipherVectors
    counts: MergedCounts
    options: BuildOptions


def load_with_counts(uri: str, build: str | None = None, version: int | None = None) -> VectorsWithCounts:
    """Open vectors and the counts that they were made from.

    Args:
        uri: a build, or a folder of vectors made by `bitcipher embed`. For a version without vectors of its own, the
            counts are those of the earlier version whose vectors it has.
        build: the build with the counts; needed for a folder of vectors.
        version: version of the build; the newest if not given.

    Raises:
        BitcipherError: if the build is missing, or does not contain the counts of the vectors, or no longer.
    """
    vectors = CipherVectors.load(uri if build else vectors_of(uri, version), verify=True)
    return add_counts(vectors, uri, build, version)


def add_counts(
    vectors: CipherVectors, uri: str, build: str | None = None, version: int | None = None
) -> VectorsWithCounts:
    """Open the counts that vectors were made from. The arguments and errors are those of `load_with_counts`."""
    if build is None and not versions(uri):
        raise BitcipherError(f"{uri} is a folder of vectors without counts: name the build of its counts by --counts.")
    source = build or uri
    manifest = read_manifest(source, version) if build else _read_counted(uri, version)
    counts = StoredCounts.of_version(source, manifest)
    if vectors.manifest.get("digests") != counts.provenance["digests"]:
        raise BitcipherError(
            f"{uri} was not made from the counts of {source}, version {manifest.version}: name another build by "
            "--counts, or another version by --version."
        )
    return VectorsWithCounts(vectors, counts.open(), manifest.options)


def _read_counted(build: str, version: int | None) -> BuildManifest:
    """Return the manifest of the version from whose counts the vectors of a version were made.

    Raises:
        BitcipherError: if there are no vectors, or that version was pruned.
    """
    manifest = read_manifest(build, version)
    if manifest.has_own_vectors or manifest.vectors_from is None:
        return manifest
    made_by = manifest.vectors_from.version
    if made_by not in versions(build):
        raise BitcipherError(
            f"{build}, version {manifest.version}, has the vectors of version {made_by}, whose counts were pruned: "
            f"make vectors of the present counts with `bitcipher update {build} --vectors now`."
        )
    return read_manifest(build, made_by)
