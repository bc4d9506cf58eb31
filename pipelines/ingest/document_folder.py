"""Folders of document shards, as `bitcipher shard` writes them: the files of the newest version."""

import re
from typing import Any, Literal

from pydantic import ConfigDict, Field

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.record_table import read_records
from bitcipher.files.records import Count, Record
from bitcipher.files.table_reference import TableReference

FORMAT: Literal["bitcipher-documents/3"] = "bitcipher-documents/3"
MANIFESTS = "manifests"
DOCUMENTS = "documents"
# Table of the document shards of a version, and its columns that hold JSON.
FILES = "files"
JSON_OF_FILES = ("key_hashes",)

_MANIFEST = re.compile(r"(\d{6})\.json")


class DocumentFile(Record):
    """One document shard."""

    name: str = Field(pattern=r"^documents/[0-9a-f-]+\.parquet$")
    """Path relative to the folder."""
    size: Count
    """Stored bytes."""
    sha256: str
    """SHA-256 of the stored bytes."""
    key_hashes: dict[str, str]
    """SHA-256 of the file with the keys of its documents, by kind of key."""
    documents: Count
    words: Count
    text_bytes: Count
    """Bytes of UTF-8 text."""


class FileTables(Record):
    """Tables of a version that list the document shards."""

    model_config = ConfigDict(extra="ignore")

    files: TableReference
    """All document shards, sorted by name."""


class DocumentFolder(Record):
    """Fields of a manifest that list the document shards. `pipelines.shard.manifest` has the others."""

    # Without `extra="ignore"`, the other fields of a manifest would be errors.
    model_config = ConfigDict(extra="ignore")

    format: Literal["bitcipher-documents/3"] = FORMAT
    version: int = Field(ge=1)
    tables: FileTables


def manifest_uri(folder: str, version: int) -> str:
    """Return the URI of the manifest of a version."""
    return storage.join(folder, MANIFESTS, f"{version:06d}.json")


def table_uri(folder: str, version: int, name: str, reference: TableReference) -> str:
    """Return the URI of a table of a version, whose name has the first digits of its SHA-256."""
    return storage.join(folder, MANIFESTS, f"{version:06d}-{name}-{reference.sha256[:8]}.parquet")


def newest_manifest(folder: str) -> str | None:
    """Return the URI of the newest manifest, or None if the folder has no document shards."""
    names = storage.list_files(storage.join(folder, MANIFESTS))
    versions = [int(match[1]) for name in names if (match := _MANIFEST.fullmatch(name))]
    return manifest_uri(folder, max(versions)) if versions else None


def read_values(uri: str) -> dict[str, Any]:
    """Return the values of a manifest.

    Raises:
        BitcipherError: if the manifest is damaged, or has the format of another version of bitcipher.
    """
    values = json_files.read(uri)
    if values.get("format") != FORMAT:
        raise BitcipherError(
            f"{uri}: the format is {values.get('format')!r}, and this version of bitcipher reads {FORMAT!r}. Use the "
            "version that made it, or choose a new folder."
        )
    return values


def find_document_files(folder: str) -> tuple[DocumentFile, ...] | None:
    """Return the document shards of a folder, or None if `bitcipher shard` did not write it.

    Raises:
        BitcipherError: if the manifest or its table is damaged, or has the format of another version of bitcipher.
    """
    uri = newest_manifest(folder)
    if uri is None:
        return None
    newest = DocumentFolder.parse(read_values(uri), uri)
    files = newest.tables.files
    return read_records(table_uri(folder, newest.version, FILES, files), files, DocumentFile, JSON_OF_FILES)
