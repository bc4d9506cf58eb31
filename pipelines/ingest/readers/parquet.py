"""Reader for Parquet: one document per row, in a column of strings."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher.errors import BitcipherError, first_line
from pipelines.ingest.raw_documents import BadRecord, ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import check_content, find_compression, open_stored
from pipelines.ingest.readers.table_rows import BATCH_ROWS, DocumentColumns
from pipelines.ingest.sources import Source

# Limits of a footer, which is parsed as a whole: the bytes of a string, and the items of a list.
MAX_FOOTER_STRING = 16 << 20
MAX_FOOTER_ITEMS = 1_000_000


def read(source: Source, options: ReadOptions) -> Iterator[ReadRecord]:
    """Yield the text of each row. A null becomes an empty string, and bytes that are not UTF-8 become U+FFFD.

    The rows of a damaged row group that Arrow cannot read become one bad record.

    Raises:
        BitcipherError: if the column is missing or not of strings, or the footer of the file is damaged.
    """
    with open_stored(source) as stream:
        if compression := find_compression(source, stream):
            raise BitcipherError(
                f"{source.uri} is compressed ({compression}), and Parquet is read from its end: decompress it first."
            )
        try:
            file = pq.ParquetFile(
                stream,
                thrift_string_size_limit=MAX_FOOTER_STRING,
                thrift_container_size_limit=MAX_FOOTER_ITEMS,
                page_checksum_verification=True,
            )
            columns = DocumentColumns(file.schema_arrow, source, options)
            groups = [max(0, file.metadata.row_group(index).num_rows) for index in range(file.num_row_groups)]
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # UnicodeDecodeError: a damaged column name
            check_content(source, options)
            raise BitcipherError(
                f"Cannot read {source.uri} as Parquet: {first_line(error)}. Download it again."
            ) from error
        start = 1
        for index, rows in enumerate(groups):
            yield from _read_group(file, index, range(start, start + rows), columns, source)
            start += rows
    yield from columns.decisions()


def _read_group(
    file: pq.ParquetFile, index: int, rows: range, columns: DocumentColumns, source: Source
) -> Iterator[ReadRecord]:
    """Yield the rows of a row group, and one bad record for all rows from the first that cannot be read."""
    start = rows.start
    damage: object = "rows are missing"  # Arrow silently skips a page whose header is damaged
    try:
        for batch in file.iter_batches(BATCH_ROWS, row_groups=[index], columns=columns.names, use_threads=False):
            for record in columns.read_rows(batch, start):
                if record.offset not in rows:
                    break
                yield record
            start += len(batch)
    except (pa.ArrowException, OSError) as error:
        damage = first_line(error)
    if start < rows.stop:
        message = f"{source.uri} is damaged: rows {start:,} to {rows.stop - 1:,} cannot be read ({damage})."
        yield BadRecord(start, "damaged", f"{message} Download it again.", records=rows.stop - start)
