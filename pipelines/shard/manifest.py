"""Manifests of folders of document shards."""

from pydantic import ConfigDict

from bitcipher.files.table_reference import TableReference
from pipelines.ingest.document_folder import DocumentFolder, FileTables
from pipelines.shard.accounts import Accounts
from pipelines.shard.options import ShardOptions
from pipelines.store.fingerprint import Fingerprint


class DocumentTables(FileTables):
    """Tables of a version, next to its manifest (see `pipelines.shard.document_version`)."""

    model_config = ConfigDict(extra="forbid")

    sources: TableReference
    tasks: TableReference


class DocumentManifest(DocumentFolder):
    """Manifest of a version of a folder of document shards. Its size does not grow with the corpus."""

    model_config = ConfigDict(extra="forbid")

    bitcipher: str
    """Version of bitcipher that made the version."""
    options: ShardOptions
    fingerprint: Fingerprint
    tables: DocumentTables
    accounts: Accounts
    """Sums over all tasks."""
