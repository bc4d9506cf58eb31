"""Documents in the rows of tables, for the readers of Parquet and Arrow."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from bitcipher.errors import BitcipherError
from pipelines.ingest.document_fields import MISSING, DetailFinder, find_inner_value, split_path, to_text
from pipelines.ingest.raw_documents import BadRecord, Decision, RawDocument, ReadRecord
from pipelines.ingest.read_options import MAX_RECORD_MIB, ReadOptions
from pipelines.ingest.sources import Source

# Number of rows decoded at a time: 60 MB for books of half a megabyte, and enough to read short texts at full speed.
BATCH_ROWS = 128


class ColumnPath(NamedTuple):
    """Column of a table, or field of a nested one."""

    path: str
    """Path as an option or a public corpus names it."""
    keys: tuple[str, ...]
    """Name of the column, and keys of structs, maps, or JSON objects in it."""


class DocumentColumns:
    """Columns of the documents of a table.

    Args:
        schema: schema of the table.
        source: the table.
        options: options of the readers.

    Raises:
        BitcipherError: if the column of the text is missing, is not of strings, or is not the only one with its name.
    """

    def __init__(self, schema: pa.Schema, source: Source, options: ReadOptions):
        self._source = source
        self._max_bytes = options.max_record_bytes
        self._finder = DetailFinder(options.detail_fields)
        self._text = _find_text(schema, source, options.field)
        self._details = [
            [column for path in paths if (column := find_column(schema, path))] for paths in options.detail_fields
        ]
        self._names = options.detail_fields._fields

    @property
    def names(self) -> list[str]:
        """Names of the columns that are read."""
        columns = [self._text, *(column for detail in self._details for column in detail)]
        return list(dict.fromkeys(column.keys[0] for column in columns))

    def read_rows(self, batch: pa.RecordBatch, start: int) -> Iterator[RawDocument | BadRecord]:
        """Yield the rows of a batch. A null becomes an empty string, and bytes that are not UTF-8 become U+FFFD.

        Args:
            batch: rows of the table, with at least the columns `names`.
            start: number of the first row in the source, from 1.
        """
        texts = _decode(_values(batch, self._text.keys), self._max_bytes)
        details = [self._read_detail(batch, *item) for item in zip(self._names, self._details, strict=True)]
        for row, (text, *values) in enumerate(zip(texts, *details, strict=True), start=start):
            if text is None:
                limit = self._max_bytes >> 20
                message = f"Row {row} of {self._source.uri} is larger than {limit} MiB: raise `max_record_mib`."
                yield BadRecord(row, "too large", message)
            else:
                yield RawDocument((text,), row, *values)

    def decisions(self) -> Iterator[ReadRecord]:
        """Yield the decisions about the rows that were read."""
        yield from map(Decision, self._finder.found.values())

    def _read_detail(self, batch: pa.RecordBatch, detail: str, columns: Sequence[ColumnPath]) -> list[str]:
        """Return the first value of each row that is not null, or an empty string."""
        found = [""] * len(batch)
        for column in columns:
            values = _to_texts(_values(batch, column.keys))
            if any(value is not None for value in values):
                self._finder.remember(detail, column.path)
                found = [known or value or "" for known, value in zip(found, values, strict=True)]
        return found


def find_column(schema: pa.Schema, path: str) -> ColumnPath | None:
    """Return the column of a path, or None if a table has none, or two of the same name."""
    if schema.names.count(path) == 1:
        kind = _plain_type(schema.field(path).type)
        is_known = _is_text(kind) or types.is_temporal(kind) or types.is_integer(kind) or types.is_floating(kind)
        return ColumnPath(path, (path,)) if is_known else None
    for folder, rest in split_path(path):
        if schema.names.count(folder) == 1 and (keys := _find_inner(schema.field(folder).type, rest)):
            return ColumnPath(path, (folder, *keys))
    return None


def _find_inner(kind: pa.DataType, path: str) -> tuple[str, ...] | None:
    kind = _plain_type(kind)
    if types.is_map(kind) or _is_text(kind):  # keys of a map, and JSON objects in strings, are known by row only
        return (path,)
    if not types.is_struct(kind):
        return None
    inner = find_column(pa.schema(list(kind)), path)
    return inner and inner.keys


def _find_text(schema: pa.Schema, source: Source, path: str) -> ColumnPath:
    if (count := schema.names.count(path)) > 1:
        raise BitcipherError(
            f"{source.uri} has {count} columns {path!r}. Rename them, or set `field` to another column."
        )
    if count == 1:
        kind = schema.field(path).type
        if _is_text(_plain_type(kind)) or types.is_null(kind):
            return ColumnPath(path, (path,))
        raise BitcipherError(
            f"The column {path!r} of {source.uri} has type {kind}, not string. Set `field` to the column that holds "
            "the text."
        )
    if column := find_column(schema, path):
        return column
    raise BitcipherError(
        f"{source.uri} has no column {path!r}; its columns are {', '.join(schema.names[:20])}. "
        "Set `field` to the column that holds the text."
    )


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    is_string = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return is_string or types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)


def _values(batch: pa.RecordBatch, keys: Sequence[str]) -> pa.Array:
    """Return a column, or the values of a field of a nested one."""
    values = batch.column(batch.schema.get_field_index(keys[0]))
    for position, key in enumerate(keys[1:], 1):
        if types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if types.is_struct(values.type):
            values = pc.struct_field(values, [values.type.get_field_index(key)])
        elif types.is_map(values.type):
            values = pc.map_lookup(values, key, "first")
        else:
            path = ".".join(keys[position:])
            found = [find_inner_value(text, path) for text in _decode(values, MAX_RECORD_MIB << 20)]
            return pa.array([None if value is MISSING else to_text(value) for value in found], pa.large_string())
    return values.dictionary_decode() if types.is_dictionary(values.type) else values


def _decode(values: pa.Array, max_bytes: int) -> list[str | None]:
    """Return texts, an empty string for a null, and None for a value above the maximum size."""
    if types.is_null(values.type):
        return [""] * len(values)
    # Cast to bytes, because some writers store strings that are not UTF-8, which Arrow does not check.
    values = values.cast(pa.large_binary())
    is_large = pc.greater(pc.binary_length(values), max_bytes)
    contents = pc.if_else(is_large, pa.scalar(None, pa.large_binary()), values).to_pylist()
    large_rows = is_large.to_pylist()
    return [
        (None if is_large else "") if content is None else content.decode(errors="replace")
        for content, is_large in zip(contents, large_rows, strict=True)
    ]


def _to_texts(values: pa.Array) -> list[str | None]:
    """Return the values of a detail as texts, and None for nulls."""
    if types.is_temporal(values.type):
        return [text and text.replace(" ", "T", 1) for text in values.cast(pa.string()).to_pylist()]
    if _is_text(values.type):
        values = values.cast(pa.large_binary())
    return [to_text(value) for value in values.to_pylist()]
