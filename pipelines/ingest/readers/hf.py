"""Reader for Hugging Face datasets that are streamed: one document per row."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from bitcipher.errors import BitcipherError, first_line
from pipelines.ingest.hf_datasets import parse_uri, stream_rows
from pipelines.ingest.raw_documents import DETAIL_FIELDS, BadRecord, RawDocument
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import Source


def read(source: Source, options: ReadOptions) -> Iterator[RawDocument | BadRecord]:
    """Yield the text of each row. A null becomes an empty string.

    Raises:
        BitcipherError: if the dataset cannot be read, or has no such column.
    """
    field = parse_uri(source.read_uri).field or options.field
    rows = stream_rows(source.read_uri)
    try:
        number = 0
        for number, row in enumerate(_select_columns(rows, field, source), start=1):
            yield _document(row, field, number, source, options)
    except BitcipherError:
        raise
    except Exception as error:  # `datasets` raises exceptions of many libraries
        raise BitcipherError(f"Cannot read {source.uri} after row {number:,}: {first_line(error)}.") from error


def _select_columns(rows: Any, field: str, source: Source) -> Any:
    """Return only the columns that are read, because images and sounds in others would be decoded."""
    if rows.features is None:  # not known before the first row
        return rows
    if field not in rows.features:
        raise BitcipherError(_missing_field(source, field, list(rows.features)))
    details = {name for names in DETAIL_FIELDS for name in names}
    return rows.select_columns([name for name in rows.features if name == field or name in details])


def _document(
    row: dict[str, Any], field: str, number: int, source: Source, options: ReadOptions
) -> RawDocument | BadRecord:
    if field not in row:
        raise BitcipherError(_missing_field(source, field, list(row)))
    text = "" if row[field] is None else row[field]
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
    return RawDocument((text,), number, *(_detail(row, names) for names in DETAIL_FIELDS))


def _detail(row: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first value that is a string or a time, or an empty string."""
    value = next((row[name] for name in names if isinstance(row.get(name), str | date)), "")
    return value.isoformat() if isinstance(value, date) else value


def _missing_field(source: Source, field: str, columns: list[str]) -> str:
    return (
        f"{source.uri} has no column {field!r}; its columns are {', '.join(columns[:20])}. "
        "Set `field` to the column that holds the text."
    )
