"""Manifests of versions: options, sizes, digests and vectors of a build, and references to the tables of a version."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from bitcipher import versions
from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import Count, Record, Strings
from bitcipher.files.table_reference import TableReference
from bitcipher.version_manifest import VersionManifest
from pipelines.ingest.record_counts import RecordCounts
from pipelines.options import BuildOptions
from pipelines.store.fingerprint import Fingerprint
from pipelines.store.recorded_inputs import RecordedInputs

if TYPE_CHECKING:
    from bitcipher.counts.vocabulary_file import VocabularyFile

FORMAT: Literal["bitcipher-build/10"] = "bitcipher-build/10"
# Formats that can be read: in the first, `inputs` is missing.
_READABLE = ("bitcipher-build/9", FORMAT)


class CountedTask(Record):
    """A count task that is finished, with its shards."""

    id: str
    sources: Strings
    """SHA-256 of each source."""
    shards: Strings
    """Names of the shards of the task, in order."""
    records: dict[str, RecordCounts]
    """Counts of bad and skipped records by SHA-256 of the source; sources without any are left out. A source that
    several tasks read is counted in the last of them."""


class CountDigests(Record):
    """Digests that identify the counts of a version."""

    words: str
    """SHA-256 of the vocabulary file."""
    counts: str
    """Sum of the count digests of all shards (see `bitcipher.counts.digest`)."""


class VersionDigests(CountDigests):
    """Digests that identify a version: equal builds have equal digests."""

    vectors: str | None
    """SHA-256 of the file of the version's vectors; None if there are no vectors yet."""


class VectorSizes(Record):
    """Sizes of a table of vectors."""

    words: Count
    dimensions: Count
    empty_words: Count
    """Number of words without any context, whose vectors are zero."""


class RankMoves(Record):
    """Changes of rank of the words that two versions share."""

    words: Count
    """Number of words whose rank changed."""
    median: float = Field(ge=0)
    """Median of the absolute change of rank."""
    percentile_99: float = Field(ge=0)
    """99th percentile of the absolute change of rank."""


class VectorMoves(Record):
    """How far words moved from the vectors of the previous version, in the same axes."""

    median: float = Field(ge=-1, le=1)
    """Median cosine of a word's vector with its previous vector."""
    percentile_1: float = Field(ge=-1, le=1)
    """First percentile of these cosines: one word in a hundred moved further."""
    furthest: dict[str, float]
    """Cosines of the words that moved furthest, of the words whose neighbors are compared."""


class Drift(Record):
    """Difference between the vectors of a version and the previous vectors."""

    words_in: Count
    """Number of added words."""
    words_out: Count
    """Number of removed words."""
    added: Strings
    """The most frequent of the added words."""
    removed: Strings
    """The most frequent of the removed words."""
    rank_moves: RankMoves
    neighbors: float = Field(ge=0, le=1)
    """Share of the ten nearest neighbors that did not change, averaged over a sample of frequent words."""
    sample: Count
    """Number of words in the sample."""
    vector_moves: VectorMoves | None
    """Moves of the vectors; None if the axes differ."""


class BasisState(Record):
    """The axes of the vectors of a version, in mode spectral."""

    version: Annotated[int, Field(ge=1)]
    """Version whose axes these are. Vectors of versions with the same axes can be compared."""
    residual: Annotated[float, Field(ge=0, le=1)] | None
    """How much the axes of the previous vectors missed of the counts of these; None if they were not tried."""


class VersionTables(Record):
    """Tables of a version, in its folder (see `pipelines.store.version_tables`)."""

    sources: TableReference
    tasks: TableReference
    shards: TableReference
    segments: TableReference


class BuildManifest(VersionManifest):
    """Manifest of a version of a build. Its size does not grow with the corpus.

    The fields about vectors (`digests.vectors`, `vectors` and `basis`) describe those of `vectors_from`.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["bitcipher-build/9", "bitcipher-build/10"] = FORMAT
    bitcipher: str
    """Version of bitcipher that made the version."""
    options: BuildOptions
    fingerprint: Fingerprint
    inputs: RecordedInputs | None = None
    """Files that determine the vocabulary, and the version of the stage that makes vectors; None in builds that were
    made before they were recorded."""
    aligned: str | None
    """Option `align` of the update that made the version."""
    documents: Count
    text_bytes: Count
    tokens: Count
    vocabulary: Count
    """Number of words."""
    oov_tokens: Count
    """Number of tokens outside the vocabulary."""
    records: RecordCounts
    """Sums of the counts of bad and skipped records of all sources."""
    tables: VersionTables
    digests: VersionDigests
    vectors: VectorSizes | None
    """Sizes of the vectors; None if there are no vectors yet."""
    basis: BasisState | None
    """Axes of the vectors; None in other modes than spectral, or if there are no vectors yet."""
    drift: Drift | None
    """Difference from the previous vectors; None for the first vectors, or if the version has no vectors of its own."""
    drift_from: Annotated[int, Field(ge=1)] | None
    """Version whose vectors are the previous ones; None without `drift`."""

    @model_validator(mode="before")
    @classmethod
    def _complete_options(cls, values: Any) -> Any:
        """Complete the options of a build from before there was normalization, which an update continues without."""
        options = values.get("options") if isinstance(values, dict) else None
        if isinstance(options, dict) and "normalization" not in options:
            return {**values, "options": {**options, "normalization": "none"}}
        return values

    def file(self, build: str, name: str) -> str:
        """Return the URI of a file or folder of the version."""
        return storage.join(build, self.folder, name)

    def vocabulary_file(self, build: str) -> "VocabularyFile":
        """Return the file of the vocabulary."""
        from bitcipher.counts.vocabulary_file import VocabularyFile  # imports Arrow

        return VocabularyFile(self.file(build, versions.WORDS), self.digests.words)


def read_manifest(build: str, version: int | None = None) -> BuildManifest:
    """Return the manifest of a version, by default the newest.

    Raises:
        BitcipherError: if the folder is not a build, has no such version, or the manifest is damaged or has the format
            of another version of bitcipher.
    """
    uri = versions.manifest_uri(build, versions.find_version(build, version))
    values = json_files.read(uri)
    if values.get("format") not in _READABLE:
        raise BitcipherError(
            f"{uri}: the format is {values.get('format')!r}, and this version of bitcipher reads {FORMAT!r}. Use the "
            "version that made it, or build again."
        )
    return BuildManifest.parse(values, uri)
