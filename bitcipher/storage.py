"""Files and folders by path or URI: whatever fsspec reaches (local, s3://, gs://, memory://).

A file appears under its name only when it is whole: it is written under a unique name beside it and then
renamed on a local disk; object stores publish an object when its upload is closed.
"""

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher.errors import BitcipherError


def url_to_fs(uri: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """The file system that a URI names, and the path in it.

    Raises:
        BitcipherError: if there is no such protocol, or its library is not installed.
    """
    try:
        return fsspec.core.url_to_fs(uri)
    except (ImportError, ValueError) as error:
        raise BitcipherError(f"Cannot reach {uri}: {error}.") from None


def join(folder: str, *names: str) -> str:
    """The URI of a name below a folder."""
    return "/".join([folder.rstrip("/"), *names])


def absolute(uri: str) -> str:
    """The same file by a name that means the same to every process: workers have other working directories."""
    return local_path(uri) or uri


def local_path(uri: str) -> str | None:
    """The path on this machine that the URI stands for, or None if it lies elsewhere."""
    filesystem, path = url_to_fs(uri)
    return path if is_local(filesystem) else None


def is_local(filesystem: fsspec.AbstractFileSystem) -> bool:
    """Whether the file system is this machine's own."""
    protocol = filesystem.protocol
    return "file" in ((protocol,) if isinstance(protocol, str) else protocol)


def exists(uri: str) -> bool:
    """Whether a file or folder is there."""
    filesystem, path = url_to_fs(uri)
    return filesystem.exists(path)


def files_below(folder: str) -> dict[str, int]:
    """Names relative to the folder, in order, with their sizes in bytes."""
    filesystem, path = url_to_fs(folder)
    found = filesystem.find(path, detail=True)
    return {os.path.relpath(name, path): found[name]["size"] for name in sorted(found)}


@contextmanager
def reading(uri: str) -> Iterator[IO[bytes]]:
    """A file opened for reading bytes.

    Raises:
        BitcipherError: if there is no such file, or it cannot be read.
    """
    filesystem, path = url_to_fs(uri)
    try:
        stream = filesystem.open(path, "rb")
    except FileNotFoundError:
        raise BitcipherError(f"There is no file {uri}.") from None
    except OSError as error:
        raise BitcipherError(f"Cannot read {uri}: {error.strerror or error}.") from None
    with stream:
        yield stream


@contextmanager
def writing(uri: str) -> Iterator[IO[bytes]]:
    """A file opened for writing bytes, published under its name only if the block ends well.

    Raises:
        BitcipherError: if the target cannot be written.
    """
    filesystem, path = url_to_fs(uri)
    # An object store shows an object only when its upload is closed, so there the name can be final at once.
    unfinished = f"{path}.{uuid.uuid4().hex}.tmp" if is_local(filesystem) else path
    try:
        filesystem.makedirs(os.path.dirname(path), exist_ok=True)
        with filesystem.open(unfinished, "wb") as stream:
            yield stream
        if unfinished != path:
            os.replace(unfinished, path)
    except BaseException as error:
        if filesystem.exists(unfinished):
            filesystem.rm(unfinished)
        if isinstance(error, OSError):
            raise BitcipherError(f"Cannot write {uri}: {error.strerror or error}.") from error
        raise


def read_json(uri: str) -> dict[str, Any]:
    """The object that a JSON file holds.

    Raises:
        BitcipherError: if the file is missing or holds something else.
    """
    with reading(uri) as stream:
        content = stream.read()
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BitcipherError(f"{uri} is not a JSON object: it is damaged, or not of bitcipher.")
    return value


def write_json(uri: str, content: dict[str, Any]) -> None:
    """Write an object as JSON, readable and with its keys in the order given."""
    with writing(uri) as stream:
        stream.write(json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n")


def read_table(uri: str) -> pa.Table:
    """The table that a Parquet file holds.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    try:
        # Not `pq.read_table`: it loads Arrow's datasets, and with them pandas, for a tenth of a second.
        with reading(uri) as stream, pq.ParquetFile(stream) as file:
            return file.read()
    except (pa.ArrowException, OSError) as error:
        raise BitcipherError(f"{uri} is not a table in Parquet, or it is damaged: {error}.") from None


def write_table(uri: str, table: pa.Table) -> None:
    """Write a table as Parquet."""
    with writing(uri) as stream:
        pq.write_table(table, stream, compression="zstd")


def remove(uri: str) -> None:
    """Remove a file or a whole folder, if it is there."""
    filesystem, path = url_to_fs(uri)
    if filesystem.exists(path):
        filesystem.rm(path, recursive=True)


def move(source: str, target: str) -> None:
    """Give a folder its final name: one rename on a local disk, a copy and a removal on object stores.

    Raises:
        BitcipherError: if the name was taken meanwhile, or cannot be written.
    """
    filesystem, path = url_to_fs(source)
    _, final = url_to_fs(target)
    try:
        if is_local(filesystem):
            os.replace(path, final)
        else:
            filesystem.mv(path, final, recursive=True)
    except OSError as error:
        raise BitcipherError(f"Cannot write {target}: {error.strerror or error}.") from error
