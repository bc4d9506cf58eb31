"""Reader for Parquet: one document per row, in a column of strings."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bitcipher.errors import BitcipherError, first_line
from pipelines.ingest.raw_documents import DETAIL_FIELDS, BadRecord, RawDocument, ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import open_decompressed
from pipelines.ingest.sources import Source

# Number of rows decoded at a time: 60 MB for books of half a megabyte, and enough to read short texts at full speed.
BATCH_ROWS = 128

STRING_TYPES = (pa.string(), pa.large_string(), pa.string_view())


# Limits of a footer, which is parsed as a whole: the bytes of a string, and the items of a list.
MAX_FOOTER_STRING = 16 << 20
MAX_FOOTER_ITEMS = 1_000_000


def read(source: Source, options: ReadOptions) -> Iterator[ReadRecord]:
    """Yield the text of each row. A null becomes an empty string, and bytes that are not UTF-8 become U+FFFD.

    The rows of a damaged row group that Arrow cannot read become one bad record.

    Raises:
        BitcipherError: if the column is missing or not of strings, or the footer of the file is damaged.
    """
    with open_decompressed(source) as stream:
        try:
            file = pq.ParquetFile(
                stream,
                thrift_string_size_limit=MAX_FOOTER_STRING,
                thrift_container_size_limit=MAX_FOOTER_ITEMS,
                page_checksum_verification=True,
            )
            schema = file.schema_arrow
            _check_column(schema, source, options.field)
            columns = [options.field, *(_find_column(schema, names) for names in DETAIL_FIELDS)]
            groups = [max(0, file.metadata.row_group(index).num_rows) for index in range(file.num_row_groups)]
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # UnicodeDecodeError: a damaged column name
            raise BitcipherError(
                f"Cannot read {source.uri} as Parquet: {first_line(error)}. Download it again."
            ) from error
        start = 1
        for index, rows in enumerate(groups):
            yield from _read_group(file, index, range(start, start + rows), columns, source, options)
            start += rows


def _read_group(
    file: pq.ParquetFile,
    index: int,
    rows: range,
    columns: list[str | None],
    source: Source,
    options: ReadOptions,
) -> Iterator[ReadRecord]:
    """Yield the rows of a row group, and one bad record for all rows from the first that cannot be read."""
    start = rows.start
    names = [each for each in columns if each]
    damage: object = "rows are missing"  # Arrow silently skips a page whose header is damaged
    try:
        for batch in file.iter_batches(BATCH_ROWS, row_groups=[index], columns=names, use_threads=False):
            for record in _read_batch(batch, start, columns, source, options.max_record_bytes):
                if record.offset not in rows:
                    break
                yield record
            start += len(batch)
    except (pa.ArrowException, OSError) as error:
        damage = first_line(error)
    if start < rows.stop:
        message = f"{source.uri} is damaged: rows {start:,} to {rows.stop - 1:,} cannot be read ({damage})."
        yield BadRecord(start, "damaged", f"{message} Download it again.", records=rows.stop - start)


def _read_batch(
    batch: pa.RecordBatch, start: int, columns: list[str | None], source: Source, max_bytes: int
) -> Iterator[RawDocument | BadRecord]:
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
