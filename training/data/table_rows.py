"""Reader of columns of tables: TSV with or without a header, and JSON lines."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files.plain_values import check_plain
from pipelines.ingest.raw_documents import BadRecord
from pipelines.ingest.readers.byte_streams import iter_lines, open_decompressed
from pipelines.ingest.sources import Source, compression_of, list_sources

TSV = ".tsv"
JSON_LINES = (".jsonl", ".json", ".ndjson")
# Maximum number of bytes of a line.
MAX_LINE_BYTES = 1 << 24


def list_tables(patterns: Sequence[str], list_protocols: Sequence[str] | None = None) -> list[Source]:
    """Return the files that match paths, URIs, folders or globs, each once, sorted by their URIs.

    Args:
        patterns: paths, URIs, folders or globs.
        list_protocols: see `list_sources`.

    Raises:
        BitcipherError: if nothing matches, or a file is neither TSV nor JSON lines.
    """
    # The format has no effect: it stands for files whose ending is not that of a document.
    sources = list_sources(patterns, "text", list_protocols=list_protocols)
    for source in sources:
        if not _name_of(source).endswith((TSV, *JSON_LINES)):
            raise BitcipherError(
                f"{source.uri} is not a table: its name must end in {', '.join((TSV, *JSON_LINES))}, or in one of them "
                "and .gz."
            )
    return sources


def read_columns(source: Source, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the values of columns in each line of a table. TSV has no quotes, as in GLUE; blank lines are skipped.

    Args:
        source: a file from `list_tables`, compressed or not.
        columns: fields of JSON lines, or columns that the first line of a TSV names. If all of them are numbers, a TSV
            has no header, and they are the positions of the columns, from 1.

    Raises:
        BitcipherError: if the file cannot be read, a line is malformed, or a value is missing or blank.
    """
    with open_decompressed(source) as stream:
        lines = _lines(iter_lines(stream, source, MAX_LINE_BYTES), source.uri)
        rows = _tsv_rows if is_tsv(source) else _json_rows
        for number, values in rows(lines, columns, source.uri):
            blank = next((name for name, text in zip(columns, values, strict=True) if not text.strip()), None)
            if blank is not None:
                raise BitcipherError(
                    f"Line {number} of {source.uri} has no text in column {blank}; fill or remove the line."
                )
            yield values


def is_tsv(source: Source) -> bool:
    """Return whether a table is TSV, and not JSON lines."""
    return _name_of(source).endswith(TSV)


def _name_of(source: Source) -> str:
    return source.uri.lower().removesuffix(compression_of(source.uri))


def _lines(lines: Iterator[tuple[int, bytes | BadRecord]], uri: str) -> Iterator[tuple[int, str]]:
    for number, content in lines:
        if isinstance(content, BadRecord):
            raise BitcipherError(f"Line {number} of {uri} is longer than {MAX_LINE_BYTES >> 20} MiB; remove it.")
        try:
            # A file can begin with a byte order mark.
            line = content.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise BitcipherError(f"Line {number} of {uri} is not text in UTF-8; correct or remove it.") from None
        line = line.removesuffix("\n").removesuffix("\r")
        if line:
            yield number, line


def _tsv_rows(
    lines: Iterator[tuple[int, str]], columns: Sequence[str], uri: str
) -> Iterator[tuple[int, tuple[str, ...]]]:
    has_header = not all(column.isascii() and column.isdecimal() for column in columns)
    positions: list[int] = []
    width = 0
    for number, line in lines:
        cells = line.split("\t")
        if not width:
            width, positions = len(cells), _positions(cells, columns, has_header, f"Line {number} of {uri}")
            if has_header:
                continue
        if len(cells) != width:
            raise BitcipherError(
                f"Line {number} of {uri} has {len(cells)} columns instead of {width}, as many as the first line."
            )
        yield number, tuple(cells[position] for position in positions)


def _positions(cells: list[str], columns: Sequence[str], has_header: bool, where: str) -> list[int]:
    names = cells if has_header else [str(number) for number in range(1, len(cells) + 1)]
    missing = next((column for column in columns if column not in names), None)
    if missing is None:
        return [names.index(column) for column in columns]
    if has_header:
        raise BitcipherError(
            f"{where} names no column {missing}, but {', '.join(cells)}; give one of these names, or the numbers of "
            "the columns, from 1, if the file has no header."
        )
    raise BitcipherError(f"{where} has no column {missing}, but {len(cells)} columns, numbered from 1.")


def _json_rows(
    lines: Iterator[tuple[int, str]], columns: Sequence[str], uri: str
) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, line in lines:
        where = f"Line {number} of {uri}"
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            raise BitcipherError(f"{where} is not JSON; repair or remove it.") from None
        if not isinstance(values, dict):
            raise BitcipherError(f"{where} is not a JSON object with the fields {', '.join(columns)}.")
        check_plain(values, where)
        yield number, tuple(_text(values, column, where) for column in columns)


def _text(values: dict[str, Any], column: str, where: str) -> str:
    if column not in values:
        raise BitcipherError(f"{where} has no field {column}, but {', '.join(values)}; give one of these names.")
    value = values[column]
    if isinstance(value, str):
        return value
    if isinstance(value, int):  # a label, such as 1 or true
        return json.dumps(value)
    raise BitcipherError(f"{where} has no text in field {column}; give a field with strings.")
