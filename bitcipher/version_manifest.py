"""The parts of a version's manifest that the library reads."""

from pydantic import ConfigDict, Field

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.records import Record, Strings
from bitcipher.files.table_reference import TableReference

SEGMENTS = "segments.parquet"  # table of the segments of a version, in its folder


class VectorsReference(Record):
    """Reference to the vectors of a version."""

    version: int = Field(ge=1)
    """Number of the version from whose counts the vectors were made."""
    folder: str
    """Folder of the vectors, relative to the build, which stays even if that version is pruned."""


class VersionManifest(Record):
    """Fields of a version's manifest that say where the version is stored.

    A manifest has more fields, which `pipelines.store.manifest` describes and validates.
    """

    # Without `extra="ignore"`, the other fields of a manifest would be errors.
    model_config = ConfigDict(extra="ignore")

    version: int = Field(ge=1)
    """Number of the version."""
    folder: str
    """Folder of the version's files, relative to the build."""
    vectors_from: VectorsReference | None
    """The vectors of the version: its own, or those of the newest earlier version that made vectors, if this version
    was published with `--vectors later`. None if no version has made vectors yet."""

    @property
    def has_own_vectors(self) -> bool:
        """Whether the vectors were made from the counts of this version."""
        return self.vectors_from is not None and self.vectors_from.version == self.version

    def vectors_folder(self, build: str) -> str:
        """Return the URI of the folder of the version's vectors.

        Raises:
            BitcipherError: if no version has made vectors yet.
        """
        if self.vectors_from is None:
            raise BitcipherError(
                f"{build}, version {self.version}, has counts but no vectors: make them with `bitcipher update {build} "
                "--vectors now`."
            )
        return storage.join(build, self.vectors_from.folder)


class CountedOptions(Record):
    """Options of a build that say which pairs were counted."""

    model_config = ConfigDict(extra="ignore")

    window: int = Field(ge=1)
    """The largest offset."""
    summed: bool
    """Whether the counts of all offsets were added up."""


class CountedSegment(Record):
    """Segment of a version: the files of its counts."""

    model_config = ConfigDict(extra="ignore")

    parts: Strings
    """Paths of the parts relative to the build, in the order of their words."""


class CountedTables(Record):
    """Tables of a version that say where its counts are stored."""

    model_config = ConfigDict(extra="ignore")

    segments: TableReference


class CountedDigests(Record):
    """Digests of the counts of a version."""

    model_config = ConfigDict(extra="ignore")

    words: str
    """SHA-256 of the vocabulary file."""
    counts: str
    """SHA-256 of all pairs."""


class CountedVersion(VersionManifest):
    """Fields of a version's manifest that say what was counted, and where the counts are stored."""

    options: CountedOptions
    digests: CountedDigests
    tables: CountedTables

    def part_uris(self, build: str) -> list[list[str]]:
        """Return the URIs of the parts of each segment. The sum of the segments is the counts of the version.

        Raises:
            BitcipherError: if the table of segments is missing or damaged.
        """
        from bitcipher.files.record_table import read_records  # imports Arrow

        segments = read_records(storage.join(build, self.folder, SEGMENTS), self.tables.segments, CountedSegment)
        return [[storage.join(build, part) for part in segment.parts] for segment in segments]
