"""Reader for JSON lines: one object per line, with the document in one of its fields."""

from collections.abc import Iterator
from itertools import islice

import orjson

from pipelines.ingest.document_fields import MISSING, DetailFinder, find_value
from pipelines.ingest.raw_documents import BadRecord, Decision, RawDocument, ReadRecord, escape_excerpt
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import iter_lines
from pipelines.ingest.readers.text_encoding import open_text
from pipelines.ingest.sources import Source


class _LineError(Exception):
    """Reason and message of a bad line."""


def read(source: Source, options: ReadOptions) -> Iterator[ReadRecord]:
    """Yield the text of each line. A null becomes an empty string, and blank lines are skipped.

    Bytes that are not valid in the encoding of the source become U+FFFD. A line is bad if it is not a JSON object, or
    its field is missing or not a string.
    """
    finder = DetailFinder(options.detail_fields)
    with open_text(source, options) as (stream, encoding):
        yield from encoding.decisions("file")
        for number, line in iter_lines(stream, source, options.max_record_bytes):
            if isinstance(line, BadRecord):
                yield line
            elif not line.isspace():
                try:
                    yield _document(line, options.field, finder, source, number)
                except _LineError as error:
                    reason, message = error.args
                    yield BadRecord(number, reason, message, escape_excerpt(line))
    yield from map(Decision, finder.found.values())


def _document(line: bytes, field: str, finder: DetailFinder, source: Source, number: int) -> RawDocument:
    record = _parse(line, source, number)
    text = find_value(record, field)
    if text is MISSING:
        raise _LineError(
            "no field",
            f"Line {number} of {source.uri} has no field {field!r}; its fields are {', '.join(islice(record, 20))}. "
            "Set `field` to the field that holds the text.",
        )
    if text is None:
        text = ""
    elif not isinstance(text, str):
        raise _LineError(
            "not a string",
            f"The field {field!r} in line {number} of {source.uri} is {_kind(text)}, not a string. "
            "Set `field` to the field that holds the text, or correct the line.",
        )
    return RawDocument((text,), number, *finder.find(record))


def _parse(line: bytes, source: Source, number: int) -> dict[str, object]:
    try:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            # orjson also rejects bytes that are not UTF-8. They are replaced before the second attempt.
            record = orjson.loads(line.decode(errors="replace"))
    except orjson.JSONDecodeError as error:
        raise _LineError(
            "not JSON",
            f"Line {number} of {source.uri} is not JSON ({error}). Each line must be one complete object: correct "
            "or remove the line, or download the file again if it ends there.",
        ) from None
    if not isinstance(record, dict):
        raise _LineError(
            "not an object",
            f"Line {number} of {source.uri} is {_kind(record)}, not a JSON object: write one object per line.",
        )
    return record


def _kind(value: object) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "null")
