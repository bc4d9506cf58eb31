"""Folders of document shards, as `bitcipher shard` writes them: the files of the newest version."""

import re
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from bitcipher import storage
from bitcipher.records import FROM_LIST, Count, Record

FORMAT: Literal["bitcipher-documents/2"] = "bitcipher-documents/2"
MANIFESTS = "manifests"
DOCUMENTS = "documents"

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


class DocumentFolder(Record):
    """Fields of a manifest that list the document shards. `pipelines.shard.manifest` has the others."""

    # Without `extra="ignore"`, the other fields of a manifest would be errors.
    model_config = ConfigDict(extra="ignore")

    format: Literal["bitcipher-documents/2"] = FORMAT
    version: int = Field(ge=1)
    files: Annotated[tuple[DocumentFile, ...], FROM_LIST]
    """All document shards, sorted by name."""


def manifest_uri(folder: str, version: int) -> str:
    """Return the URI of the manifest of a version."""
    return storage.join(folder, MANIFESTS, f"{version:06d}.json")


def newest_manifest(folder: str) -> str | None:
    """Return the URI of the newest manifest, or None if the folder has no document shards."""
    names = storage.list_files(storage.join(folder, MANIFESTS))
    versions = [int(match[1]) for name in names if (match := _MANIFEST.fullmatch(name))]
    return manifest_uri(folder, max(versions)) if versions else None


def find_document_files(folder: str) -> tuple[DocumentFile, ...] | None:
    """Return the document shards of a folder, or None if `bitcipher shard` did not write it.

    Raises:
        BitcipherError: if the manifest is damaged.
    """
    uri = newest_manifest(folder)
    return None if uri is None else DocumentFolder.read(uri).files
