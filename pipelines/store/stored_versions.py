"""Published versions of a build, whose manifests and tables a command reads at most once."""

from typing import Any

from bitcipher import versions
from bitcipher.files import storage
from bitcipher.files.record_table import read_records
from bitcipher.version_manifest import CountedSegment
from pipelines.ingest.sources import Source
from pipelines.store.manifest import BuildManifest, CountedTask, read_manifest
from pipelines.store.segments import Segment
from pipelines.store.version_tables import VersionContents, read_version_table, table_uri


class StoredVersion:
    """A version: its manifest and its tables. Each table is read when it is first used.

    All properties raise BitcipherError if a table is missing or damaged.

    Args:
        build: folder of the build.
        manifest: manifest of the version.
        contents: the tables, if they are in memory already.
    """

    def __init__(self, build: str, manifest: BuildManifest, contents: VersionContents | None = None):
        self.build = build
        self.manifest = manifest
        self._tables: dict[str, tuple[Any, ...]] = {} if contents is None else dict(vars(contents))

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources, without copies of the same content."""
        return self.table("sources")

    @property
    def tasks(self) -> tuple[CountedTask, ...]:
        """Count tasks."""
        return self.table("tasks")

    @property
    def shards(self) -> tuple[Segment, ...]:
        """Counts of each shard."""
        return self.table("shards")

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Segments whose sum is the counts of the version."""
        return self.table("segments")

    def table(self, name: str) -> tuple[Any, ...]:
        """Return the records of a table, one of `version_tables.KINDS`."""
        if name not in self._tables:
            self._tables[name] = read_version_table(self.folder, name, getattr(self.manifest.tables, name))
        return self._tables[name]

    @property
    def folder(self) -> str:
        """URI of the folder of the version."""
        return storage.join(self.build, self.manifest.folder)

    def parts(self) -> set[str]:
        """Return the parts of all shards and segments, as paths relative to the build.

        Of tables that are not in memory, only this column is read, and it is not kept.
        """
        return {part for name in ("shards", "segments") for each in self._counted(name) for part in each.parts}

    def _counted(self, name: str) -> tuple[Segment | CountedSegment, ...]:
        if name in self._tables:
            return self._tables[name]
        return read_records(table_uri(self.folder, name), getattr(self.manifest.tables, name), CountedSegment)


class StoredVersions:
    """The versions of a build. Files of versions never change, so each is read at most once.

    Args:
        build: folder of the build.
    """

    def __init__(self, build: str):
        self.build = build
        self._found: dict[int, StoredVersion] = {}

    def find(self, version: int | None = None) -> StoredVersion:
        """Return a version, by default the newest.

        Raises:
            BitcipherError: if the folder is not a build, has no such version, or the manifest is damaged.
        """
        number = versions.find_version(self.build, version)
        if number not in self._found:
            self._found[number] = StoredVersion(self.build, read_manifest(self.build, number))
        return self._found[number]

    def add(self, version: StoredVersion) -> None:
        """Add a version that this command has published."""
        self._found[version.manifest.version] = version
