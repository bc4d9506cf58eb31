"""Vectors together with the counts that they were made of."""

from typing import NamedTuple

from bitcipher.counts import MergedCounts
from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from bitcipher.versions import vectors_of, versions
from pipelines.embed.embed_counts import StoredCounts
from pipelines.options import BuildOptions
from pipelines.store import layout


class VectorsWithCounts(NamedTuple):
    """A table and where it comes from."""

    vectors: CipherVectors
    counts: MergedCounts
    options: BuildOptions


def load_with_counts(uri: str, build: str | None = None, version: int | None = None) -> VectorsWithCounts:
    """Open vectors and what they were made of.

    Args:
        uri: a build, or a folder of vectors that `bitcipher embed` made of one.
        build: for a folder of vectors, that build.
        version: of the build; the newest if not given.

    Raises:
        BitcipherError: if the counts are not named, or are others than those that the vectors were made of.
    """
    vectors = CipherVectors.load(uri if build else vectors_of(uri, version))
    if build is None and not versions(uri):
        raise BitcipherError(
            f"{uri} is a folder of vectors, which holds no counts: name the build that they were made of by --counts."
        )
    source = build or uri
    manifest = layout.read_manifest(source, version)
    kept = StoredCounts.of(source, manifest)
    if vectors.manifest.get("digests") != kept.provenance["digests"]:
        raise BitcipherError(
            f"{uri} was not made of the counts of {source}, version {manifest['version']}: name another build by "
            "--counts, or another of its versions by --version."
        )
    return VectorsWithCounts(vectors, kept.open(), BuildOptions.parse(manifest["options"], source))
