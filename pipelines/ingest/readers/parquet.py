"""Reader for Parquet: one document per row, in a column of strings."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher.errors import BitcipherError
from pipelines.ingest.raw_documents import DETAIL_FIELDS, BadRecord, RawDocument
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import open_decompressed
from pipelines.ingest.sources import Source

# Number of rows decoded at a time: 60 MB for books of half a megabyte, and enough to read short texts at full speed.
BATCH_ROWS = 128

STRING_TYPES = (pa.string(), pa.large_string(), pa.string_view())


def read(source: Source, options: ReadOptions) -> Iterator[RawDocument | BadRecord]:
    """Yield the text of each row. A null becomes an empty string, and bytes that are not UTF-8 become U+FFFD.

    Raises:
        BitcipherError: if the column is missing or not of strings, or the file is damaged.
    """
    with open_decompressed(source) as stream:
        try:
            file = pq.ParquetFile(stream)
            schema = file.schema_arrow
            _check_column(schema, source, options.field)
            columns = [options.field, *(_find_column(schema, names) for names in DETAIL_FIELDS)]
            rows = 0
            for batch in file.iter_batches(BATCH_ROWS, columns=[each for each in columns if each], use_threads=False):
                values = [_strings(batch, column) for column in columns]
                for number, (text, *details) in enumerate(zip(*values, strict=True), start=rows + 1):
                    yield RawDocument((text,), number, *details)
                rows += len(batch)
            expected = file.metadata.num_rows
            if rows != expected:  # Arrow silently skips a page whose header is damaged
                raise BitcipherError(
                    f"{source.uri} is damaged: it has {rows} rows instead of {expected}. Download it again."
                )
        except (pa.ArrowException, UnicodeDecodeError) as error:  # UnicodeDecodeError: a damaged column name
            raise BitcipherError(f"Cannot read {source.uri} as Parquet: {error}. Download it again.") from error


def _check_column(schema: pa.Schema, source: Source, column: str) -> None:
    if column not in schema.names:
        raise BitcipherError(
            f"{source.uri} has no column {column!r}; its columns are {', '.join(schema.names)}. "
            "Set `field` to the column that holds the text."
        )
    kind = schema.types[schema.names.index(column)]
    if kind not in STRING_TYPES:
        raise BitcipherError(
            f"The column {column!r} of {source.uri} has type {kind}, not string. Set `field` to the column that holds "
            "the text."
        )


def _find_column(schema: pa.Schema, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in schema.names and schema.field(name).type in STRING_TYPES), None)


def _strings(batch: pa.RecordBatch, column: str | None) -> list[str]:
    if column is None:
        return [""] * len(batch)
    # Cast to bytes, because some writers store strings that are not UTF-8, which Arrow does not check.
    values = batch[column].cast(pa.large_binary()).to_pylist()
    return ["" if value is None else value.decode(errors="replace") for value in values]
