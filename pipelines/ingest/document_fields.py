"""Fields of documents in JSON lines and tables: the text, and its URL, date and language.

A field is named by a path: a name of a field, or names of nested fields with dots between them, such as `meta.url`. A
field whose own name has dots takes precedence over nested ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import orjson

# Maximum number of sets of names whose paths a `DetailFinder` remembers.
MAX_LAYOUTS = 1_000

MISSING = object()
"""Stands for the value of a field that a record does not have; None is the value null."""


class DetailFields(NamedTuple):
    """Paths of the details of a document. Of each detail, the first path that a record has is read."""

    url: tuple[str, ...]
    date: tuple[str, ...]
    language: tuple[str, ...]


# Folders of fields: those of RedPajama (`meta`), of Dolma (`metadata`), of OSCAR as published (`warc_headers`) and in
# the Hub (`meta.warc_headers`), and fields of a WARC file in `metadata`, as DCLM has them.
_WARC = ("warc_headers.", "meta.warc_headers.", "metadata.warc_headers.", "metadata.", "meta.")


def _warc_paths(name: str) -> tuple[str, ...]:
    return tuple(f"{folder}{spelling}" for folder in _WARC for spelling in (name.lower(), name))


# Where public corpora have the details: C4, FineWeb and document shards first, whose names need no mention.
USUAL_FIELDS = DetailFields(
    url=("url", "meta.url", "metadata.url", *_warc_paths("WARC-Target-URI")),
    date=(
        *("timestamp", "date", "meta.timestamp", "meta.date", "metadata.timestamp", "metadata.date"),
        *_warc_paths("WARC-Date"),
        *("created", "date_download", "metadata.date_download"),
    ),
    language=(
        *("language", "meta.language", "metadata.language"),
        *_warc_paths("WARC-Identified-Content-Language"),
        *("metadata.identification.label", "meta.identification.label", "lang", "meta.lang", "metadata.lang"),
    ),
)
_NEED_NO_MENTION = ("url", "timestamp", "date", "language")


def find_value(record: Mapping[str, Any], path: str) -> Any:
    """Return the value of a field, or `MISSING`. Strings on the way that hold a JSON object are parsed.

    >>> find_value({"meta": {"url": "http://example.org/"}}, "meta.url")
    'http://example.org/'
    """
    if path in record:
        return record[path]
    for folder, rest in split_path(path):
        if folder in record and (value := find_inner_value(record[folder], rest)) is not MISSING:
            return value
    return MISSING


def find_inner_value(value: object, path: str) -> Any:
    """Return the value of a field of an object, or of a string that holds a JSON object, or `MISSING`."""
    inner = _as_object(value)
    return MISSING if inner is None else find_value(inner, path)


@cache  # The same paths are looked up in each record.
def split_path(path: str) -> tuple[tuple[str, str], ...]:
    """Return each way to split a path into the name of a field and the path in it."""
    return tuple((path[:at], path[at + 1 :]) for at, character in enumerate(path) if character == ".")


class DetailFinder:
    """Finds the details of the records of one source, and remembers which fields were read.

    Args:
        fields: paths of the details.
    """

    def __init__(self, fields: DetailFields):
        self._fields = fields
        # Paths that records with some names of fields can have, by these names.
        self._paths: dict[tuple[str, ...], DetailFields] = {}
        self.found: dict[str, str] = {}
        """Description of each field that was read and is none of the usual ones, by its path."""

    def find(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield URL, date and language of a record, each an empty string if there is none."""
        names = tuple(record)
        fields = self._paths.get(names)
        if fields is None:
            if len(self._paths) > MAX_LAYOUTS:
                self._paths.clear()
            fields = self._paths[names] = _select_paths(self._fields, record)
        for detail, paths in zip(DetailFields._fields, fields, strict=True):
            yield self._find(record, detail, paths)

    def _find(self, record: Mapping[str, Any], detail: str, paths: Sequence[str]) -> str:
        for path in paths:
            value = find_value(record, path)
            if value is not MISSING and (text := to_text(value)) is not None:
                self.remember(detail, path)
                return text
        return ""

    def remember(self, detail: str, path: str) -> None:
        """Remember that a detail is read from a field."""
        if path not in _NEED_NO_MENTION:
            self.found.setdefault(path, f"file with the {detail} in {path}")


def _select_paths(fields: DetailFields, record: Mapping[str, Any]) -> DetailFields:
    """Return the paths that a record has, or whose folder it has."""
    return DetailFields(*(tuple(path for path in paths if _may_have(record, path)) for paths in fields))


def _may_have(record: Mapping[str, Any], path: str) -> bool:
    return path in record or any(folder in record for folder, _ in split_path(path))


def to_text(value: object) -> str | None:
    """Return a value of a detail as text, or None if it is null or has no text. Numbers and times are text, too."""
    if isinstance(value, str):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def _as_object(value: object) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, str) and value.startswith("{"):
        try:
            parsed = orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
        return parsed if isinstance(parsed, dict) else None
    return None
