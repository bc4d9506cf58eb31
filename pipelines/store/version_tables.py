"""Tables of a version: its sources, count tasks, shards and segments, in Parquet files with a row per record."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from bitcipher.files import storage
from bitcipher.files.record_table import read_records, write_records
from bitcipher.files.table_reference import TableReference
from pipelines.ingest.sources import Source
from pipelines.store.manifest import CountedTask, VersionTables
from pipelines.store.segments import Segment


def column(name: str, kind: pa.DataType) -> pa.Field:
    """Return a column without nulls."""
    return pa.field(name, kind, nullable=False)


STRINGS = pa.list_(column("element", pa.string()))
_SEGMENTS = pa.schema(
    [
        column("name", pa.string()),
        *(column(name, STRINGS) for name in ("parts", "part_hashes", "shards")),
        *(
            column(name, pa.int64())
            for name in ("documents", "total_passages", "text_bytes", "tokens", "types", "entries")
        ),
        column("digest", pa.string()),
    ]
)


@dataclass(frozen=True)
class TableKind:
    """A kind of tables: the class of its records, and its columns."""

    record: Any
    schema: pa.Schema
    json_fields: tuple[str, ...] = ()
    """Columns that hold JSON."""


KINDS = {
    "sources": TableKind(
        Source,
        pa.schema(
            column(name, pa.int64() if name == "size" else pa.string())
            for name in ("uri", "size", "format", "stamp", "sha256")
        ),
    ),
    "tasks": TableKind(
        CountedTask,
        pa.schema(
            column(name, STRINGS if name in ("sources", "shards") else pa.string())
            for name in ("id", "sources", "shards", "records")
        ),
        json_fields=("records",),
    ),
    "shards": TableKind(Segment, _SEGMENTS),
    "segments": TableKind(Segment, _SEGMENTS),
}


@dataclass(frozen=True)
class VersionContents:
    """What a version was counted from, and its counts."""

    sources: tuple[Source, ...] = ()
    """All sources, without copies of the same content."""
    tasks: tuple[CountedTask, ...] = ()
    shards: tuple[Segment, ...] = ()
    """Counts of each shard, which `--replace` subtracts."""
    segments: tuple[Segment, ...] = ()
    """Segments whose sum is the counts of the version. Each shard is in one of them."""

    def write(self, folder: str) -> VersionTables:
        """Write the tables to the folder of a version, and return the references to them.

        Raises:
            BitcipherError: if a table cannot be written.
        """
        return VersionTables(
            **{
                name: write_records(table_uri(folder, name), getattr(self, name), kind.schema)
                for name, kind in KINDS.items()
            }
        )


def read_version_table(folder: str, name: str, reference: TableReference) -> tuple[Any, ...]:
    """Return the records in a table of a version.

    Args:
        folder: folder of the version.
        name: one of `KINDS`.
        reference: number of rows and SHA-256 of the table.

    Raises:
        BitcipherError: if the table is missing or damaged.
    """
    kind = KINDS[name]
    return read_records(table_uri(folder, name), reference, kind.record, kind.json_fields)


def table_uri(folder: str, name: str) -> str:
    """Return the URI of a table of a version."""
    return storage.join(folder, f"{name}.parquet")
