"""Reader for Arrow IPC streams and files, such as those of `Dataset.save_to_disk`: one document per row."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from bitcipher.errors import BitcipherError, first_line
from pipelines.ingest.raw_documents import ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import check_content, open_decompressed
from pipelines.ingest.readers.table_rows import BATCH_ROWS, DocumentColumns
from pipelines.ingest.sources import Source

# First bytes of the file format. All other bytes are read as the stream format.
FILE_MAGIC = b"ARROW1"

# Arrow checks that strings are UTF-8, but some writers store other bytes. As binary data, only offsets are checked.
_BINARY_TYPES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}


def read(source: Source, options: ReadOptions) -> Iterator[ReadRecord]:
    """Yield the text of each row. A null becomes an empty string, and bytes that are not UTF-8 become U+FFFD.

    Raises:
        BitcipherError: if the column is missing or not of strings, or the file is damaged.
    """
    start, columns = 1, None
    with open_decompressed(source) as stream:
        try:
            for batch in _iter_batches(stream):
                columns = columns or DocumentColumns(batch.schema, source, options)
                checked = _check_buffers(batch, columns.names)
                for first in range(0, len(checked), BATCH_ROWS):
                    rows = checked.slice(first, BATCH_ROWS)
                    yield from columns.read_rows(rows, start)
                    start += len(rows)
        # A damaged size can ask for more memory than there is.
        except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as error:
            if start == 1:
                check_content(source, options)
            raise BitcipherError(
                f"Cannot read {source.uri} as Arrow after row {start - 1:,}: {first_line(error)}. Download it again."
            ) from error
    yield from columns.decisions() if columns else ()


def _iter_batches(stream: Any) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and an empty batch first, so that the schema of an empty file is checked too."""
    if stream.peek(len(FILE_MAGIC)).startswith(FILE_MAGIC):
        with pa.ipc.open_file(stream) as file:
            yield pa.RecordBatch.from_pylist([], file.schema)
            for index in range(file.num_record_batches):
                yield file.get_batch(index)
        return
    with pa.ipc.open_stream(stream) as batches:
        yield pa.RecordBatch.from_pylist([], batches.schema)
        yield from batches


def _check_buffers(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    """Return some columns after checking their offsets, because Arrow would read beyond the buffers of damaged ones."""
    columns = []
    for name in names:
        column = batch[name]
        column = column.view(_BINARY_TYPES.get(column.type, column.type))
        column.validate(full=True)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names)
