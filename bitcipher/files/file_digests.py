"""Digests of the files of a folder. They are stored as `files.json`, which is written after the files."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import Count, Record

DIGESTS = "files.json"
_BLOCK_BYTES = 1 << 20


class FileDigest(Record):
    """Size and SHA-256 of a file, or of the beginning of a file."""

    size: Count
    """Number of bytes."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the bytes in hexadecimal."""


class FolderDigests(Record):
    """Digests of the files of a folder; stored as `files.json`."""

    files: dict[str, FileDigest]
    """Digest of each file by its name."""
    metrics: FileDigest | None = None
    """In a checkpoint: digest of the beginning of the run's `metrics.jsonl` up to the step of the checkpoint."""
    step: Count | None = None
    """In a checkpoint: its step."""


def digest_file(uri: str) -> FileDigest:
    """Return the size and the SHA-256 of a file.

    Raises:
        BitcipherError: if the file is missing, or cannot be read.
    """
    size, digest = 0, hashlib.sha256()
    with storage.reading(uri) as stream:
        while block := stream.read(_BLOCK_BYTES):
            size += len(block)
            digest.update(block)
    return FileDigest(size=size, sha256=digest.hexdigest())


def digest_bytes(content: bytes) -> FileDigest:
    """Return the size and the SHA-256 of bytes."""
    return FileDigest(size=len(content), sha256=hashlib.sha256(content).hexdigest())


def write_digests(
    folder: Path, names: Iterable[str], metrics: FileDigest | None = None, step: int | None = None
) -> None:
    """Write the digests of files of a folder.

    Args:
        folder: the folder.
        names: names of the files.
        metrics: see `FolderDigests`.
        step: see `FolderDigests`.

    Raises:
        BitcipherError: if a file cannot be read, or the digests cannot be written.
    """
    files = {name: digest_file(str(folder / name)) for name in sorted(names)}
    json_files.write(str(folder / DIGESTS), FolderDigests(files=files, metrics=metrics, step=step).to_dict())


def check_digest(uri: str, digest: FileDigest, advice: str) -> None:
    """Check that a file has a digest.

    Args:
        uri: the file.
        digest: its digest.
        advice: what to do if the file is damaged, as the end of a sentence.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    if not storage.exists(uri):
        raise BitcipherError(f"{uri} is missing; {advice}.")
    if digest_file(uri) != digest:
        raise BitcipherError(f"{uri} is damaged, or was changed, because its SHA-256 is another; {advice}.")


def check_stored_digests(folder: str, names: Iterable[str]) -> None:
    """Check files of a folder whose digests are stored. A folder without `files.json` is not checked.

    Args:
        folder: path or URI of a model, of a checkpoint or of a run.
        names: names of the files that are about to be read.

    Raises:
        BitcipherError: if a file, or the file of digests, is damaged.
    """
    uri = storage.join(folder, DIGESTS)
    if not storage.exists(uri):
        return
    files = FolderDigests.read(uri).files
    for name in names:
        if name in files:
            check_digest(storage.join(folder, name), files[name], "restore it from a copy, or use another checkpoint")
