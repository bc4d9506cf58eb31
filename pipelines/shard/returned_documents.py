"""Documents that come back when the documents are removed of which they were copies."""

from typing import NamedTuple

from bitcipher.files import parquet_files, storage
from pipelines.shard.document_version import DocumentVersion


class ReturnedDocument(NamedTuple):
    """A document that was dropped as a copy, and is kept now."""

    source: str
    offset: int
    url: str


def find_returned(folder: str, before: DocumentVersion, after: DocumentVersion) -> list[ReturnedDocument]:
    """Return the documents of sources that both versions contain, but that only the later version keeps.

    Args:
        folder: folder of the document shards. It still contains the files of both versions.
        before: the version before.
        after: the later version.
    """
    unchanged = {source.uri for source in before.sources} & {source.uri for source in after.sources}
    old, new = ({file.name for file in version.files} for version in (before, after))
    kept_before = {row[:2] for name in sorted(old - new) for row in _rows(folder, name)}
    rows = (row for name in sorted(new - old) for row in _rows(folder, name))
    return sorted(row for row in rows if row.source in unchanged and row[:2] not in kept_before)


def _rows(folder: str, name: str) -> list[ReturnedDocument]:
    table = parquet_files.read_table(storage.join(folder, name))
    columns = (table[column].to_pylist() for column in ReturnedDocument._fields)
    return [ReturnedDocument(*values) for values in zip(*columns, strict=True)]
