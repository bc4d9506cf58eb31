"""Reader for JSON lines: one object per line, with the document in one of its fields."""

from collections.abc import Iterable, Iterator
from itertools import islice

import orjson

from bitcipher.errors import BitcipherError
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import open_decompressed
from pipelines.ingest.sources import Source


def read(source: Source, options: ReadOptions) -> Iterator[Iterable[str]]:
    """Yield the text of each line. A null becomes an empty string, and blank lines are skipped.

    Bytes that are not UTF-8 become U+FFFD.

    Raises:
        BitcipherError: if a line is not a JSON object, or the field is missing or not a string.
    """
    field = options.field
    with open_decompressed(source) as stream:
        for number, line in enumerate(stream, start=1):
            if line.isspace():
                continue
            record = _parse(line, source, number)
            if field not in record:
                raise BitcipherError(
                    f"Line {number} of {source.uri} has no field {field!r}; its fields are "
                    f"{', '.join(islice(record, 20))}. Set `field` to the field that holds the text."
                )
            text = record[field]
            if text is None:
                text = ""
            elif not isinstance(text, str):
                raise BitcipherError(
                    f"The field {field!r} in line {number} of {source.uri} is {_kind(text)}, not a string. "
                    "Set `field` to the field that holds the text, or correct the line."
                )
            yield (text,)


def _parse(line: bytes, source: Source, number: int) -> dict[str, object]:
    try:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            # orjson also rejects bytes that are not UTF-8. They are replaced before the second attempt.
            record = orjson.loads(line.decode(errors="replace"))
    except orjson.JSONDecodeError as error:
        raise BitcipherError(
            f"Line {number} of {source.uri} is not JSON ({error}). Each line must be one complete object: correct "
            "or remove the line, or download the file again if it ends there."
        ) from None
    if not isinstance(record, dict):
        raise BitcipherError(
            f"Line {number} of {source.uri} is {_kind(record)}, not a JSON object: write one object per line."
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
