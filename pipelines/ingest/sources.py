"""Sources: the files of a corpus, listed by path, folder or glob, on any file system that fsspec supports."""

import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Self

from fsspec import AbstractFileSystem
from pydantic import AfterValidator, PrivateAttr

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.http_connection import without_access
from bitcipher.files.object_store import translating_errors
from bitcipher.files.records import Count, Record
from bitcipher.files.storage import is_local, url_to_fs
from bitcipher.redaction import redact
from bitcipher.versions import versions
from pipelines.ingest.content_kinds import COMPRESSION_ENDINGS, compression_of_name
from pipelines.ingest.dataset_folder import find_arrow_files, split_pattern
from pipelines.ingest.document_folder import DOCUMENTS, DocumentFile, find_document_files
from pipelines.ingest.folder_files import SkippedFiles, match_glob, walk_folder
from pipelines.ingest.hf_datasets import DatasetSplit, is_dataset, list_splits
from pipelines.ingest.path_lists import expand_list
from pipelines.ingest.read_options import ENDINGS_OF_FORMAT, Format
from pipelines.ingest.standard_input import STANDARD_INPUT, spool

FORMATS = tuple(ENDINGS_OF_FORMAT)
FORMAT_OF_ENDING = {ending: name for name, endings in ENDINGS_OF_FORMAT.items() for ending in endings}
ENDINGS = f"{' '.join(FORMAT_OF_ENDING)}, all but .parquet also with {' '.join(COMPRESSION_ENDINGS)}"


class Source(Record):
    """One input file, or one split of a dataset.

    Stored files, messages and logs name a source by its `uri`, which has no credentials. Only the code that opens the
    source uses `read_uri`, which is never stored.
    """

    uri: Annotated[str, AfterValidator(redact)]
    """Absolute path of a local file, else a URI without credentials."""
    size: Count
    """Stored bytes, compressed or not."""
    format: Format
    stamp: str = ""
    """Modification time or ETag, empty if the store has neither. A file with the same URI, size and stamp is assumed to
    be unchanged. A file without a stamp is hashed again."""
    sha256: str = ""
    """SHA-256 of the stored bytes, or of the list of files of a dataset. It is empty until
    `pipelines.ingest.content_hash` has computed it."""
    _read_uri: str = PrivateAttr("")
    _block_hashes: bytes = PrivateAttr(b"")

    @property
    def read_uri(self) -> str:
        """URI to open: with the credentials that the user gave. A source that is read back from a file has none."""
        return self._read_uri or self.uri

    def with_read_uri(self, uri: str) -> Self:
        """Return a copy that is opened by another URI than its own, or the source itself."""
        if uri == self.read_uri:
            return self
        copy = self.model_copy()
        copy._read_uri = uri if uri != self.uri else ""
        return copy

    @property
    def block_hashes(self) -> bytes:
        """Hashes of the blocks (see `block_hashes`), which are compared when the source is read.

        They are never stored. A source that was not hashed by this command has none, and neither has a dataset.
        """
        return self._block_hashes

    def with_hashes(self, sha256: str, block_hashes: bytes) -> Self:
        """Return a copy with a content hash and the hashes of its blocks."""
        copy = self.model_copy(update={"sha256": sha256})
        copy._block_hashes = block_hashes
        return copy


def list_sources(
    patterns: Sequence[str],
    format: str | None = None,
    say: Callable[[str], None] | None = None,
    *,
    list_protocols: Sequence[str] | None = None,
) -> list[Source]:
    """Return the files that match the patterns, each once, sorted by the bytes of their URIs.

    A folder that `bitcipher shard` wrote has the document shards of its newest version, and a folder that
    `save_to_disk` wrote has the Arrow files of its splits. Other folders are searched recursively, without following
    links to other folders. In folders and globs, hidden and temporary files and files with an unknown ending are
    skipped. A glob also skips folders that cannot be listed.

    Args:
        patterns: files, folders or globs, as paths or URIs, or datasets such as hf://NAME?split=train. A name that
            ends in .paths or .paths.gz is a list of them, one per line. `-` is standard input.
        format: one of FORMATS, used for all files instead of their endings.
        say: function that prints a sentence about the files that a folder or a glob skips.
        list_protocols: protocols of other stores that a list from outside may name (see `outside_lists`); None if the
            user has no option for them.

    Raises:
        BitcipherError: if a pattern matches nothing, a list names what it may not name, a file given by name has an
            unknown ending, a file or a folder given by name cannot be listed, a folder is a build, or all files are
            empty.
    """
    if format is not None and format not in FORMATS:
        raise BitcipherError(f"`format` must be one of {', '.join(FORMATS)}, got {format!r}.")
    if not patterns:
        raise BitcipherError("No sources are given: give at least one file, folder or glob.")
    # All lists are checked before a file is opened.
    expanded = [each for pattern in patterns for each in expand_list(pattern, list_protocols)]
    found: dict[str, Source] = {}
    for source in (source for pattern in expanded for source in _find(pattern, format, say)):
        first = found.setdefault(source.uri, source)
        if without_access(first.read_uri) != without_access(source.read_uri):
            raise BitcipherError(f"{source.uri} is given with different credentials: give it once.")
    if not any(source.size for source in found.values()):
        raise BitcipherError(f"All sources are empty ({', '.join(patterns)}): there is no text to read.")
    return sorted(found.values(), key=lambda source: source.uri.encode())


def check_target(patterns: Sequence[str], target: str) -> None:
    """Check that the folder that a command writes is not in a folder that it reads.

    Args:
        patterns: files, folders or globs.
        target: absolute path or URI of the folder.

    Raises:
        BitcipherError: if it is, so that a later run would read what this one has written.
    """
    for pattern in patterns:
        if pattern == STANDARD_INPUT or storage.is_web_address(pattern) or is_dataset(pattern):
            continue
        folder = split_pattern(storage.absolute(pattern))[0].rstrip("/")
        fixed, wildcard, _ = folder.partition("**")
        is_inside = f"{target.rstrip('/')}/".startswith(f"{fixed.rstrip('/')}/")
        if is_inside and (wildcard or _is_folder(folder)):
            raise BitcipherError(
                f"{target} is inside of {redact(pattern)}, which is read, so the next run would read what this one "
                "writes: choose a folder outside of it."
            )


def _is_folder(uri: str) -> bool:
    filesystem, path = url_to_fs(uri)
    entry = _info(filesystem, path)
    return entry is not None and entry["type"] == "directory"


def list_again(source: Source) -> Source:
    """Return a listed source as it is now, with its size and stamp.

    Raises:
        BitcipherError: if the source no longer exists, or cannot be listed.
    """
    (current,) = _find(source.read_uri, source.format)
    return current


def compression_of(uri: str) -> str:
    """Return the compression ending of a file name, or an empty string."""
    return compression_of_name(storage.without_query(uri))


def format_of(uri: str) -> str | None:
    """Return the format of a file by its ending, or None if it is unknown."""
    compression = compression_of(uri)
    name = storage.without_query(uri).lower().removesuffix(compression)
    format = next((FORMAT_OF_ENDING[ending] for ending in FORMAT_OF_ENDING if name.endswith(ending)), None)
    # Compressed Parquet files are not supported: Parquet compresses its own pages, and is read from its end.
    return None if compression and format == "parquet" else format


def _find(pattern: str, format: str | None, say: Callable[[str], None] | None = None) -> list[Source]:
    if pattern == STANDARD_INPUT:
        path = spool(format)
        (source,) = _find(path, format or "text")
        return [source.model_copy(update={"uri": os.path.basename(path)}).with_read_uri(path)]
    if is_dataset(pattern):
        return [_dataset_source(split) for split in list_splits(pattern)]
    if format == "hf":
        raise BitcipherError(f"Format hf reads URIs such as hf://NAME?split=train, got {pattern}.")
    pattern, split = split_pattern(pattern)
    filesystem, path = url_to_fs(pattern)
    skipped = SkippedFiles(redact(pattern))
    # Each file system raises exceptions of its own.
    with translating_errors("list", pattern, is_local=is_local(filesystem)):
        entry = _info(filesystem, path)
        if entry is None:
            entries = list(match_glob(filesystem, path, skipped))
        elif entry["type"] == "directory":
            files = find_document_files(pattern)
            if files is not None:
                return _document_shards(filesystem, pattern, path, files)
            if versions(pattern):
                raise BitcipherError(f"{pattern} is a build, not text: give the sources that it was made from.")
            entries = find_arrow_files(filesystem, pattern, path, split)
            format = format if entries is None else "arrow"
            entries = list(walk_folder(filesystem, path, skipped)) if entries is None else entries
        else:
            entries = [entry]
    sources = []
    for each in entries:
        if source := _source(filesystem, each, format):
            sources.append(source)
        else:
            skipped.add_unknown(each["name"])
    is_single = entry is not None and entry["type"] != "directory"
    if sources:
        if say and not is_single and (sentence := skipped.describe()):
            say(sentence)
        return sources
    if entry is None:
        reason = "no such file or folder exists, and as a glob it matches no readable file"
    elif entry["type"] == "directory":
        reason = f"the folder has no readable file. {skipped.describe() or ''}".rstrip(". ")
    elif storage.without_query(path).lower().removesuffix(compression_of(path)).endswith(".wat"):
        reason = "a WAT file holds metadata, not text (use the WARC or WET file)"
    else:
        reason = "its ending is unknown"
    raise BitcipherError(
        f"Cannot use {pattern}: {reason}. Supported endings are {ENDINGS}. For other files, give the format "
        "(`--format`)."
    )


def _dataset_source(split: DatasetSplit) -> Source:
    source = Source(uri=str(split.uri), size=split.size, format="hf", stamp=split.stamp)
    return source.with_read_uri(str(split.pinned))


def _document_shards(
    filesystem: AbstractFileSystem, folder: str, path: str, files: Sequence[DocumentFile]
) -> list[Source]:
    """Return document shards as sources, with the hashes of the manifest.

    Raises:
        BitcipherError: if a file is missing, or has another size.
    """
    entries = {entry["name"]: entry for entry in filesystem.ls(f"{path.rstrip('/')}/{DOCUMENTS}", detail=True)}
    sources = []
    for file in files:
        entry = entries.get(f"{path.rstrip('/')}/{file.name}")
        source = _source(filesystem, entry, "parquet") if entry else None
        if source is None or source.size != file.size:
            problem = "is missing" if source is None else f"has {source.size} bytes instead of {file.size}"
            raise BitcipherError(f"{storage.join(folder, file.name)} {problem}: restore the file from a copy.")
        sources.append(source.model_copy(update={"sha256": file.sha256}))
    return sources


def _info(filesystem: AbstractFileSystem, path: str) -> dict[str, Any] | None:
    try:
        return filesystem.info(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _source(filesystem: AbstractFileSystem, entry: dict[str, Any], format: str | None) -> Source | None:
    uri = entry["name"] if is_local(filesystem) else filesystem.unstrip_protocol(entry["name"])
    format = format or format_of(uri)
    if format is None:
        return None
    try:
        uri.encode()
    except UnicodeEncodeError:
        raise BitcipherError(f"The file name {uri!r} is not UTF-8: rename the file.") from None
    if entry["size"] is None:
        raise BitcipherError(
            f"The server does not report the size of {uri}: download the file, and give the path of the copy."
        )
    if entry.get("islink") and not filesystem.exists(entry["name"]):
        raise BitcipherError(f"{uri} is a broken link: repair or remove it.")
    stamp = entry.get("ETag") or entry.get("etag") or entry.get("mtime") or ""
    return Source(uri=uri, size=entry["size"], format=format, stamp=str(stamp)).with_read_uri(uri)
