"""JSON lines: an object a line, the document in one of its fields."""

from collections.abc import Iterable, Iterator
from itertools import islice

import orjson

from bitcipher.errors import BitcipherError
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.readers.byte_streams import opened
from pipelines.ingest.sources import Source


def read(source: Source, options: ReadOptions) -> Iterator[Iterable[str]]:
    """The field's texts, an empty one for null; blank lines are passed over.

    Bytes that are not UTF-8 become U+FFFD.

    Raises:
        BitcipherError: if a line is no JSON object or the field is missing or holds no string.
    """
    field = options.field
    with opened(source) as stream:
        for number, line in enumerate(stream, start=1):
            if line.isspace():
                continue
            record = _parse(line, source, number)
            if field not in record:
                raise BitcipherError(
                    f"Line {number} of {source.uri} has no field {field!r} among its fields "
                    f"({', '.join(islice(record, 20))}). Set the field that holds the text."
                )
            text = record[field]
            if text is None:
                text = ""
            elif not isinstance(text, str):
                raise BitcipherError(
                    f"The field {field!r} in line {number} of {source.uri} is no string but {_kind(text)}. "
                    "Set the field that holds the text, or mend the line."
                )
            yield (text,)


def _parse(line: bytes, source: Source, number: int) -> dict[str, object]:
    try:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            # orjson refuses bytes that are not UTF-8; if something else is wrong it raises again.
            record = orjson.loads(line.decode(errors="replace"))
    except orjson.JSONDecodeError as error:
        raise BitcipherError(
            f"Line {number} of {source.uri} is not JSON ({error}). Each line must be one whole object: mend "
            "or remove the line, or fetch the file again if it ends there."
        ) from None
    if not isinstance(record, dict):
        raise BitcipherError(
            f"Line {number} of {source.uri} is no JSON object but {_kind(record)}; write one object a line."
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
