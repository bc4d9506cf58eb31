"""Manifests of versions: options, sources, counts and vectors of a build."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from bitcipher import storage, versions
from bitcipher.errors import BitcipherError
from bitcipher.records import FROM_LIST, Count, Record, Strings
from bitcipher.version_manifest import VersionManifest
from pipelines.ingest.sources import Source
from pipelines.options import BuildOptions
from pipelines.store.fingerprint import Fingerprint
from pipelines.store.segments import Segment

FORMAT: Literal["bitcipher-build/3"] = "bitcipher-build/3"


class CountedTask(Record):
    """A count task that is finished, with its shards."""

    id: str
    sources: Strings
    """SHA-256 of each source."""
    shards: Strings
    """Names of its shards, in order."""


class CountDigests(Record):
    """Digests that identify the counts of a version."""

    words: str
    """SHA-256 of the vocabulary file."""
    counts: str
    """Sum of the count digests of all shards (see `bitcipher.counts.digest`)."""


class VersionDigests(CountDigests):
    """Digests that identify a version: equal builds have equal digests."""

    vectors: str
    """SHA-256 of the vectors file."""


class VectorSizes(Record):
    """Sizes of a table of vectors."""

    words: Count
    dimensions: Count
    empty_words: Count
    """Number of words without any context, whose vectors are zero."""


class RankMoves(Record):
    """Changes of rank of the words that two versions share."""

    words: Count
    """Number of words with another rank."""
    median: float = Field(ge=0)
    """Median number of ranks."""
    percentile_99: float = Field(ge=0)
    """99th percentile of the number of ranks."""


class Drift(Record):
    """Difference between a version and the version before it."""

    words_in: Count
    """Number of words that are new."""
    words_out: Count
    """Number of words that are gone."""
    added: Strings
    """The most frequent of the new words."""
    removed: Strings
    """The most frequent of the words that are gone."""
    rank_moves: RankMoves
    neighbors: float = Field(ge=0, le=1)
    """Share of the ten nearest neighbors of a sample of frequent words that stayed."""
    sample: Count
    """Number of words in the sample."""


class BuildManifest(VersionManifest):
    """Manifest of a version of a build."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["bitcipher-build/3"] = FORMAT
    bitcipher: str
    """Version of bitcipher that made it."""
    options: BuildOptions
    fingerprint: Fingerprint
    aligned: str | None
    """The `align` option of the update that made it."""
    documents: Count
    text_bytes: Count
    tokens: Count
    vocabulary: Count
    """Number of words."""
    oov_tokens: Count
    """Number of tokens outside the vocabulary."""
    sources: Annotated[tuple[Source, ...], FROM_LIST]
    """All sources, each content once."""
    tasks: Annotated[tuple[CountedTask, ...], FROM_LIST]
    shards: Annotated[tuple[Segment, ...], FROM_LIST]
    """Counts of each shard, which `--replace` subtracts."""
    segments: Annotated[tuple[Segment, ...], FROM_LIST]
    """Segments whose sum the counts are."""
    digests: VersionDigests
    vectors: VectorSizes
    drift: Drift | None
    """None for the first version."""

    def file(self, build: str, name: str) -> str:
        """Return the URI of a file or folder of the version."""
        return storage.join(build, self.folder, name)

    def part_uris(self, build: str) -> list[list[str]]:
        """Return the URIs of the parts of each segment."""
        return [[storage.join(build, part) for part in segment.parts] for segment in self.segments]


def read_manifest(build: str, version: int | None = None) -> BuildManifest:
    """Return the manifest of a version; the newest if `version` is not given.

    Raises:
        BitcipherError: if the folder is not a build, has no such version, or the manifest is damaged or has the format
            of another version of bitcipher.
    """
    uri = versions.manifest_uri(build, versions.find_version(build, version))
    values = storage.read_json(uri)
    if values.get("format") != FORMAT:
        raise BitcipherError(
            f"{uri}: the format is {values.get('format')!r}, and this version of bitcipher reads {FORMAT!r}. Use the "
            "version that made it, or build again."
        )
    return BuildManifest.parse(values, uri)


def read_manifests(build: str) -> Iterable[BuildManifest]:
    """Yield the manifests of all published versions, oldest first."""
    return (read_manifest(build, version) for version in versions.versions(build))
