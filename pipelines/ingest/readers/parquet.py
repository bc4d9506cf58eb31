"""Parquet: a document a row, in one column of strings."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher.errors import BitcipherError
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.readers.byte_streams import opened
from pipelines.ingest.sources import Source

# Rows decoded at a time: whole books of half a megabyte then take some 60 MB, and short texts lose no speed.
BATCH_ROWS = 128


def read(source: Source, options: ReadOptions) -> Iterator[Iterable[str]]:
    """The column's texts, an empty one for null; bytes that are not UTF-8 become U+FFFD.

    Raises:
        BitcipherError: if the column is missing or holds no strings, or the file is damaged.
    """
    with opened(source) as stream:
        try:
            file = pq.ParquetFile(stream)
            _check_column(file.schema_arrow, source, options.field)
            rows = 0
            for batch in file.iter_batches(BATCH_ROWS, columns=[options.field], use_threads=False):
                rows += len(batch)
                # As bytes: some writers store strings that are not UTF-8, and Arrow does not check.
                for text in batch.column(0).cast(pa.large_binary()).to_pylist():
                    yield ("" if text is None else text.decode(errors="replace"),)
            promised = file.metadata.num_rows
            if rows != promised:  # Arrow passes over a page whose header is damaged without a word
                raise BitcipherError(f"{source.uri} is damaged: {rows} rows for {promised}. Fetch it again.")
        except (pa.ArrowException, UnicodeDecodeError) as error:  # the latter at a damaged column name
            raise BitcipherError(f"Cannot read {source.uri} as Parquet: {error}. Fetch it again.") from error


def _check_column(schema: pa.Schema, source: Source, column: str) -> None:
    if column not in schema.names:
        raise BitcipherError(
            f"{source.uri} has no column {column!r} among its columns ({', '.join(schema.names)}). "
            "Set the field that holds the text."
        )
    kind = schema.types[schema.names.index(column)]
    if kind not in (pa.string(), pa.large_string(), pa.string_view()):
        raise BitcipherError(
            f"The column {column!r} of {source.uri} holds {kind}, no strings. Set the field that holds the text."
        )
