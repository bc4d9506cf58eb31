"""Manifests of folders of document shards."""

from typing import Annotated

from pydantic import ConfigDict

from bitcipher import json_files
from bitcipher.errors import BitcipherError
from bitcipher.records import FROM_LIST, Strings
from pipelines.ingest.document_folder import FORMAT, DocumentFolder, newest_manifest
from pipelines.ingest.sources import Source
from pipelines.shard.accounts import Accounts
from pipelines.shard.options import ShardOptions
from pipelines.shard.write_stage import WrittenTask
from pipelines.store.fingerprint import Fingerprint


class PublishedTask(WrittenTask):
    """A task of a published version."""

    sources: Strings
    """SHA-256 of each source."""


class DocumentManifest(DocumentFolder):
    """Manifest of a version of a folder of document shards."""

    model_config = ConfigDict(extra="forbid")

    bitcipher: str
    """Version of bitcipher that made the version."""
    options: ShardOptions
    fingerprint: Fingerprint
    sources: Annotated[tuple[Source, ...], FROM_LIST]
    """All sources, without copies of the same content."""
    tasks: Annotated[tuple[PublishedTask, ...], FROM_LIST]
    accounts: Accounts
    """Sums over all tasks."""


def read_newest(folder: str) -> DocumentManifest | None:
    """Return the manifest of the newest version, or None if there is none.

    Raises:
        BitcipherError: if the manifest is damaged, or has the format of another version of bitcipher.
    """
    uri = newest_manifest(folder)
    if uri is None:
        return None
    values = json_files.read(uri)
    if values.get("format") != FORMAT:
        raise BitcipherError(
            f"{uri}: the format is {values.get('format')!r}, and this version of bitcipher reads {FORMAT!r}. Use the "
            "version that made it, or choose a new folder."
        )
    return DocumentManifest.parse(values, uri)
