"""Parquet tables of records, with a row per record. A manifest refers to a table by its SHA-256.

A table holds what grows with the corpus, so the manifest stays small. Only commands that need a table read it.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from bitcipher.errors import BitcipherError
from bitcipher.files import parquet_files
from bitcipher.files.hashed_files import hashing, read_checked
from bitcipher.files.plain_values import check_plain
from bitcipher.files.records import Record, describe_error
from bitcipher.files.table_reference import TableReference

AnyRecord = TypeVar("AnyRecord", bound=Record)


def write_records(uri: str, records: Iterable[Record], schema: pa.Schema) -> TableReference:
    """Write records as a table, and return the reference to it. The same records give the same bytes.

    Args:
        uri: path or URI of the file.
        records: the rows.
        schema: a column per field of the records. Mappings have string columns, and are stored as JSON.

    Raises:
        BitcipherError: if the file cannot be written.
    """
    table = to_table(records, schema)
    with hashing(uri) as stream:
        parquet_files.write_parquet(stream, table)
    return TableReference(rows=len(table), sha256=stream.sha256)


def to_table(records: Iterable[Record], schema: pa.Schema) -> pa.Table:
    """Return the table of records that `write_records` writes."""
    return pa.Table.from_pylist([_to_row(record) for record in records], schema)


def read_records(
    uri: str, reference: TableReference, record: type[AnyRecord], json_fields: Sequence[str] = ()
) -> tuple[AnyRecord, ...]:
    """Return the records in a table.

    Args:
        uri: path or URI of the file.
        reference: number of rows and SHA-256 of the table.
        record: class of the records. If it ignores further fields, only the columns of its fields are read.
        json_fields: columns that hold JSON.

    Raises:
        BitcipherError: if the file is missing or damaged, or a row does not hold a record of this class. The message
            names the file.
    """
    content = read_checked(uri, reference.sha256)
    columns = list(record.model_fields) if record.model_config.get("extra") == "ignore" else None
    try:
        with pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True) as file:
            if file.metadata.num_rows != reference.rows:
                raise BitcipherError(
                    f"{uri} has {file.metadata.num_rows:,} rows instead of {reference.rows:,}: restore it from a copy."
                )
            table = file.read(columns, use_threads=False)
        table.validate(full=True)  # strings are UTF-8
        rows = table.to_pylist()
    # OverflowError: a time that Python cannot represent. UnicodeDecodeError, a ValueError: the name of a column.
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise BitcipherError(f"{uri} is not a Parquet file, or it is damaged: {error}.") from None
    for name in json_fields:
        for row in rows:
            row[name] = _parse_json(row.get(name), uri)
    adapter = TypeAdapter(tuple[record, ...])  # pyright: ignore[reportInvalidTypeForm]
    try:
        return adapter.validate_python(tuple(rows))
    except ValidationError as error:
        raise BitcipherError(f"{uri}: {describe_error(error, record, _name_field)}") from None


def _to_row(record: Record) -> dict[str, Any]:
    return {name: json.dumps(v) if isinstance(v, dict) else v for name, v in record.to_dict().items()}


def _parse_json(text: Any, uri: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise BitcipherError(f"{uri} has {text!r} instead of JSON: restore it from a copy.") from None
    check_plain(value, uri)
    return value


def _name_field(path: Sequence[str | int]) -> str:
    row, *names = path
    return f"{'.'.join(map(str, names))} of row {int(row) + 1:,}"
