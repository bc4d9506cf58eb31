"""The parts of a version's manifest that the library reads."""

from typing import Annotated

from pydantic import ConfigDict, Field

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.records import FROM_LIST, Record, Strings


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
    """Segment of a version."""

    model_config = ConfigDict(extra="ignore")

    parts: Strings
    """Paths of the parts relative to the build, in the order of their words."""


class CountedDigests(Record):
    """Digests of the counts of a version."""

    model_config = ConfigDict(extra="ignore")

    words: str
    """SHA-256 of the vocabulary file."""


class CountedVersion(VersionManifest):
    """Fields of a version's manifest that say what was counted, and where the counts are stored."""

    options: CountedOptions
    digests: CountedDigests
    segments: Annotated[tuple[CountedSegment, ...], FROM_LIST]
    """Segments whose sum is the counts of the version."""
