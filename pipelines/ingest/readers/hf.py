"""Reader for Hugging Face datasets that are streamed: one document per row."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from bitcipher.errors import BitcipherError, first_line
from pipelines.ingest.document_fields import MISSING, DetailFinder, find_value, split_path
from pipelines.ingest.hf_datasets import parse_uri, stream_rows
from pipelines.ingest.raw_documents import BadRecord, Decision, RawDocument, ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import Source


def read(source: Source, options: ReadOptions) -> Iterator[ReadRecord]:
    """Yield the text of each row. A null becomes an empty string.

    Raises:
        BitcipherError: if the dataset cannot be read, or has no such column.
    """
    field = parse_uri(source.read_uri).field or options.field
    rows = stream_rows(source.read_uri)
    finder = DetailFinder(options.detail_fields)
    try:
        number = 0
        for number, row in enumerate(_select_columns(rows, field, source, options), start=1):
            yield _document(row, field, finder, number, source, options)
        yield from map(Decision, finder.found.values())
    except BitcipherError:
        raise
    except Exception as error:  # `datasets` raises exceptions of many libraries
        raise BitcipherError(f"Cannot read {source.uri} after row {number:,}: {first_line(error)}.") from error


def _select_columns(rows: Any, field: str, source: Source, options: ReadOptions) -> Any:
    """Return only the columns that are read, because images and sounds in others would be decoded."""
    if rows.features is None:  # not known before the first row
        return rows
    if not any(name in rows.features for name in (field, *(folder for folder, _ in split_path(field)))):
        raise BitcipherError(_missing_field(source, field, list(rows.features)))
    paths = [field, *chain.from_iterable(options.detail_fields)]
    names = {path for path in paths} | {folder for path in paths for folder, _ in split_path(path)}
    return rows.select_columns([name for name in rows.features if name in names])


def _document(
    row: dict[str, Any], field: str, finder: DetailFinder, number: int, source: Source, options: ReadOptions
) -> RawDocument | BadRecord:
    text = find_value(row, field)
    if text is MISSING:
        raise BitcipherError(_missing_field(source, field, list(row)))
    text = "" if text is None else text
    if not isinstance(text, str):
        message = (
            f"The column {field!r} in row {number} of {source.uri} is not a string: set `field` to another column."
        )
        return BadRecord(number, "not a string", message)
    if len(text.encode(errors="replace")) > options.max_record_bytes:
        limit = options.max_record_bytes >> 20
        return BadRecord(
            number, "too large", f"Row {number} of {source.uri} is larger than {limit} MiB: raise `max_record_mib`."
        )
    return RawDocument((text,), number, *finder.find(row))


def _missing_field(source: Source, field: str, columns: list[str]) -> str:
    return (
        f"{source.uri} has no column {field!r}; its columns are {', '.join(columns[:20])}. "
        "Set `field` to the column that holds the text."
    )
