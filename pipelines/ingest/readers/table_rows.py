"""Documents in the rows of tables, for the readers of Parquet and Arrow."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.errors import BitcipherError
from pipelines.ingest.raw_documents import DETAIL_FIELDS, BadRecord, RawDocument
from pipelines.ingest.sources import Source

# Number of rows decoded at a time: 60 MB for books of half a megabyte, and enough to read short texts at full speed.
BATCH_ROWS = 128

STRING_TYPES = (pa.string(), pa.large_string(), pa.string_view())


def choose_columns(schema: pa.Schema, source: Source, field: str) -> list[str | None]:
    """Return the columns of the text, URL, date and language; None for a detail that a table does not have.

    Raises:
        BitcipherError: if the column of the text is missing, is not of strings, or is not the only one with its name.
    """
    _check_column(schema, source, field)
    return [field, *(_find_column(schema, names) for names in DETAIL_FIELDS)]


def read_rows(
    batch: pa.RecordBatch, start: int, columns: list[str | None], source: Source, max_bytes: int
) -> Iterator[RawDocument | BadRecord]:
    """Yield the rows of a batch. A null becomes an empty string, and bytes that are not UTF-8 become U+FFFD.

    Args:
        batch: rows of a table.
        start: number of the first row in the source, from 1.
        columns: result of `choose_columns`.
        source: the source.
        max_bytes: maximum size of a text; a larger one is a bad record.
    """
    values = [_strings(batch, column, max_bytes) for column in columns]
    for row, (text, *details) in enumerate(zip(*values, strict=True), start=start):
        if text is None:
            limit = max_bytes >> 20
            message = f"Row {row} of {source.uri} is larger than {limit} MiB: raise `max_record_mib`."
            yield BadRecord(row, "too large", message)
        else:
            yield RawDocument((text,), row, *(each or "" for each in details))


def _check_column(schema: pa.Schema, source: Source, column: str) -> None:
    count = schema.names.count(column)
    if count == 0:
        raise BitcipherError(
            f"{source.uri} has no column {column!r}; its columns are {', '.join(schema.names[:20])}. "
            "Set `field` to the column that holds the text."
        )
    if count > 1:
        raise BitcipherError(
            f"{source.uri} has {count} columns {column!r}. Rename them, or set `field` to another column."
        )
    kind = schema.types[schema.names.index(column)]
    if kind not in STRING_TYPES:
        raise BitcipherError(
            f"The column {column!r} of {source.uri} has type {kind}, not string. Set `field` to the column that holds "
            "the text."
        )


def _find_column(schema: pa.Schema, names: tuple[str, ...]) -> str | None:
    """Return the first column of strings or times that has one of the names and is the only one with its name."""
    for name in names:
        if schema.names.count(name) == 1:
            kind = schema.types[schema.names.index(name)]
            if kind in STRING_TYPES or pa.types.is_timestamp(kind) or pa.types.is_date(kind):
                return name
    return None


def _strings(batch: pa.RecordBatch, column: str | None, max_bytes: int) -> list[str | None]:
    """Return the values of a column, an empty string for a null, and None for a value above the maximum size."""
    if column is None:
        return [""] * len(batch)
    values = batch[column]
    if pa.types.is_temporal(values.type):
        texts = values.cast(pa.string()).to_pylist()
        return ["" if text is None else text.replace(" ", "T", 1) for text in texts]
    # Cast to bytes, because some writers store strings that are not UTF-8, which Arrow does not check.
    values = values.cast(pa.large_binary())
    is_large = pc.greater(pc.binary_length(values), max_bytes)
    contents = pc.if_else(is_large, pa.scalar(None, pa.large_binary()), values).to_pylist()
    large_rows = is_large.to_pylist()
    return [
        (None if is_large else "") if content is None else content.decode(errors="replace")
        for content, is_large in zip(contents, large_rows, strict=True)
    ]
