"""Versions of a folder of document shards: their manifests, and their tables of files, sources and tasks."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from bitcipher.errors import BitcipherError
from bitcipher.files.record_table import read_records, to_table
from bitcipher.files.records import Record, Strings
from bitcipher.files.table_reference import TableReference
from pipelines.ingest.document_folder import (
    FILES,
    JSON_OF_FILES,
    MANIFESTS,
    DocumentFile,
    newest_manifest,
    read_values,
    table_uri,
)
from pipelines.ingest.sources import Source
from pipelines.shard.accounts import Accounts
from pipelines.shard.document_table import write_named
from pipelines.shard.manifest import DocumentManifest, DocumentTables
from pipelines.store import version_tables
from pipelines.store.version_tables import STRINGS, TableKind, column


class PublishedTask(Record):
    """A task of a published version."""

    id: str
    sources: Strings
    """SHA-256 of each source."""
    files: Strings
    """Names of its document shards."""
    dropped_files: Strings
    quarantine_files: Strings
    copies_of: Strings
    """Ids of the tasks with documents that were kept instead of documents of this task, sorted."""
    accounts: Accounts


KINDS = {
    FILES: TableKind(
        DocumentFile,
        pa.schema(
            column(name, pa.string() if name in ("name", "sha256", "key_hashes") else pa.int64())
            for name in DocumentFile.model_fields
        ),
        json_fields=JSON_OF_FILES,
    ),
    "sources": version_tables.KINDS["sources"],
    "tasks": TableKind(
        PublishedTask,
        pa.schema(
            column(name, pa.string() if name in ("id", "accounts") else STRINGS) for name in PublishedTask.model_fields
        ),
        json_fields=("accounts",),
    ),
}


@dataclass(frozen=True)
class DocumentContents:
    """What a version contains."""

    files: tuple[DocumentFile, ...] = ()
    """All document shards, sorted by name."""
    sources: tuple[Source, ...] = ()
    """All sources, without copies of the same content."""
    tasks: tuple[PublishedTask, ...] = ()

    def write(self, folder: str, version: int) -> DocumentTables:
        """Write the tables of a version, and return the references to them.

        Raises:
            BitcipherError: if a table cannot be written.
        """
        references = {}
        for name, kind in KINDS.items():
            table = to_table(getattr(self, name), kind.schema)
            _, sha256, _ = write_named(folder, MANIFESTS, f"{version:06d}-{name}", table)
            references[name] = TableReference(rows=len(table), sha256=sha256)
        return DocumentTables(**references)


class DocumentVersion:
    """A version: its manifest and its tables. Each table is read when it is first used.

    All properties raise BitcipherError if a table is missing or damaged.

    Args:
        folder: folder of the document shards.
        manifest: manifest of the version.
        contents: the tables, if they are in memory already.
    """

    def __init__(self, folder: str, manifest: DocumentManifest, contents: DocumentContents | None = None):
        self.folder = folder
        self.manifest = manifest
        self._tables: dict[str, tuple[Any, ...]] = {} if contents is None else dict(vars(contents))

    @property
    def files(self) -> tuple[DocumentFile, ...]:
        """All document shards, sorted by name."""
        return self.table(FILES)

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources, without copies of the same content."""
        return self.table("sources")

    @property
    def tasks(self) -> tuple[PublishedTask, ...]:
        """Tasks with their sources and files, sorted by id."""
        return self.table("tasks")

    def table(self, name: str) -> tuple[Any, ...]:
        """Return the records of a table, one of `KINDS`."""
        if name not in self._tables:
            kind = KINDS[name]
            self._tables[name] = read_records(
                self.table_uri(name), getattr(self.manifest.tables, name), kind.record, kind.json_fields
            )
        return self._tables[name]

    def table_uri(self, name: str) -> str:
        """Return the URI of a table."""
        return table_uri(self.folder, self.manifest.version, name, getattr(self.manifest.tables, name))

    def check_tasks(self) -> None:
        """Check that the sources of all tasks are listed.

        Raises:
            BitcipherError: if they are not, or a table is missing or damaged.
        """
        listed = {source.sha256 for source in self.sources}
        if any(sha256 not in listed for task in self.tasks for sha256 in task.sources):
            raise BitcipherError(
                f"{self.table_uri('tasks')} has tasks with sources that are not in the table of sources: restore the "
                "folder from a copy."
            )


def read_newest(folder: str) -> DocumentVersion | None:
    """Return the newest version, or None if there is none.

    Raises:
        BitcipherError: if the manifest is damaged, or has the format of another version of bitcipher.
    """
    uri = newest_manifest(folder)
    return None if uri is None else DocumentVersion(folder, DocumentManifest.parse(read_values(uri), uri))
