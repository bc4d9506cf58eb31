"""The files of a corpus: found by name, folder or glob, on a disk or in any store that fsspec reaches."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fsspec import AbstractFileSystem

from bitcipher.errors import BitcipherError
from bitcipher.storage import is_local, url_to_fs

# C4 publishes its JSON lines as .json.gz, CommonCrawl its extracted text as .warc.wet.gz.
FORMAT_OF_ENDING = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".wet": "wet",
}
FORMATS = tuple(dict.fromkeys(FORMAT_OF_ENDING.values()))
COMPRESSION_ENDINGS = (".gz", ".zst", ".bz2", ".xz")
ENDINGS = f"{' '.join(FORMAT_OF_ENDING)}, all but .parquet also with {' '.join(COMPRESSION_ENDINGS)}"


@dataclass(frozen=True)
class Source:
    """One file to read."""

    uri: str
    """An absolute path for a local file, else a URI."""
    size: int
    """Bytes as stored, compressed or not."""
    format: str
    """One of FORMATS."""
    stamp: str = ""
    """What the store says of the content without its being read: the time of the last change, or an ETag. A file
    with the same URI, size and stamp is taken to be the same; without a stamp it is read to know."""
    sha256: str = ""
    """SHA-256 of the bytes as stored, once known (see `pipelines.ingest.content_hash`)."""


def list_sources(patterns: Sequence[str], format: str | None = None) -> list[Source]:
    """All files that the patterns name, each once, in the order of their URIs' bytes.

    A folder is walked to its depths, without following links to other folders. In folders and globs, hidden
    files and files whose ending tells no format are left out; a glob also passes over folders that may not be
    listed, where a named folder is an error.

    Args:
        patterns: files, folders or globs, as paths or fsspec URIs.
        format: one of FORMATS for all files, whatever their endings; hidden files are still left out.

    Raises:
        BitcipherError: if a pattern finds nothing, a file named outright has an unknown ending, a file or
            folder cannot be listed, or there is not one byte to read.
    """
    if format is not None and format not in FORMATS:
        raise BitcipherError(f"The format {format!r} is unknown; it can be {', '.join(FORMATS)}.")
    if not patterns:
        raise BitcipherError("No sources are given; name at least one file, folder or glob.")
    found = {source.uri: source for pattern in patterns for source in _find(pattern, format)}
    if not any(source.size for source in found.values()):
        raise BitcipherError(f"Every source is empty (found by {', '.join(patterns)}); there is no text to read.")
    return sorted(found.values(), key=lambda source: source.uri.encode())


def compression_of(uri: str) -> str:
    """The compression ending of a file's name, or an empty string."""
    return next((ending for ending in COMPRESSION_ENDINGS if uri.lower().endswith(ending)), "")


def format_of(uri: str) -> str | None:
    """The format that a file's ending tells, or None."""
    compression = compression_of(uri)
    name = uri.lower().removesuffix(compression)
    format = next((FORMAT_OF_ENDING[ending] for ending in FORMAT_OF_ENDING if name.endswith(ending)), None)
    # Parquet compresses its own pages and must be read from its end, so it has no compressed form.
    return None if compression and format == "parquet" else format


def _find(pattern: str, format: str | None) -> list[Source]:
    try:
        filesystem, path = url_to_fs(pattern)
        entry = _info(filesystem, path)
        if entry is None:
            entries = _glob(filesystem, path)
        elif entry["type"] == "directory":
            entries = list(_walk(filesystem, path))
        else:
            entries = [entry]
    except Exception as error:  # every store and its client has errors of its own
        raise BitcipherError(f"Cannot list {pattern}: {error}. Check the name and your access to it.") from error
    sources = [source for each in entries if (source := _source(filesystem, each, format)) is not None]
    if sources:
        return sources
    if entry is None:
        reason = "there is no such file or folder, and as a glob it finds no file that can be read"
    elif entry["type"] == "directory":
        reason = "the folder holds no file that can be read"
    else:
        reason = "its ending tells no format"
    raise BitcipherError(f"Cannot use {pattern}: {reason}. Known endings are {ENDINGS}; or set the format.")


def _info(filesystem: AbstractFileSystem, path: str) -> dict[str, Any] | None:
    try:
        return filesystem.info(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _glob(filesystem: AbstractFileSystem, path: str) -> list[dict[str, Any]]:
    if not re.search(r"[*?[]", path):
        return []
    fixed = re.split(r"[*?[]", path)[0].rpartition("/")[0]
    entries = filesystem.glob(path, detail=True).values()
    return [each for each in entries if each["type"] != "directory" and not _is_hidden(each["name"], fixed)]


def _walk(filesystem: AbstractFileSystem, folder: str) -> Iterator[dict[str, Any]]:
    # fsspec's own walk passes over folders that may not be listed: a part of the corpus would lack unsaid.
    for entry in filesystem.ls(folder, detail=True):
        path = entry["name"].rstrip("/")
        if path == folder.rstrip("/") or _is_hidden(path, folder):
            continue  # object stores list a folder's own marker among its files
        if entry["type"] == "directory":
            yield from _walk(filesystem, path)
        else:
            yield entry


def _is_hidden(path: str, folder: str) -> bool:
    return "/." in path.removeprefix(folder.rstrip("/"))


def _source(filesystem: AbstractFileSystem, entry: dict[str, Any], format: str | None) -> Source | None:
    uri = entry["name"] if is_local(filesystem) else filesystem.unstrip_protocol(entry["name"])
    format = format or format_of(uri)
    if format is None:
        return None
    try:
        uri.encode()
    except UnicodeEncodeError:
        raise BitcipherError(f"The file name {uri!r} is not UTF-8; rename the file.") from None
    if entry["size"] is None:
        raise BitcipherError(f"The size of {uri} is not known to its server; fetch the file first and name the copy.")
    if entry.get("islink") and not filesystem.exists(entry["name"]):
        raise BitcipherError(f"{uri} is a link to a file that is not there; mend or remove the link.")
    stamp = entry.get("ETag") or entry.get("etag") or entry.get("mtime") or ""
    return Source(uri, entry["size"], format, str(stamp))
