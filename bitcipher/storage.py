"""Files and folders by path or URI: on this machine's disks, and in stores that fsspec reaches (s3://, gs://, memory://).

A file appears under its name only when it is whole: on a local disk it is written under a unique name beside it
and then renamed; object stores show an object when its upload is completed.
"""

import io
import json
import os
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import IO, Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from bitcipher import object_store
from bitcipher.errors import BitcipherError

# The ending of a file that is being written on a local disk, or was when its process died. Listings leave it out.
UNFINISHED = ".unfinished"
# Requests to a store in flight at a time: each takes some 30 ms, nearly all of it spent waiting for the answer.
REQUESTS = 16


def url_to_fs(uri: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """The file system that a URI names, and the path in it.

    Raises:
        BitcipherError: if there is no such protocol, or its library is not installed.
    """
    try:
        return object_store.connect(uri)
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
    return "file" in _protocols(filesystem)


def _protocols(filesystem: fsspec.AbstractFileSystem) -> tuple[str, ...]:
    protocol = filesystem.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


def _translating_errors(action: str, uri: str, filesystem: fsspec.AbstractFileSystem) -> AbstractContextManager[None]:
    return object_store.translating_errors(action, uri, is_local=is_local(filesystem))


def exists(uri: str) -> bool:
    """Whether a file or folder is there.

    Raises:
        BitcipherError: if the store does not tell.
    """
    filesystem, path = url_to_fs(uri)
    with _translating_errors("look for", uri, filesystem):
        return filesystem.exists(path)


def list_files(folder: str, *, unfinished: bool = False) -> dict[str, int]:
    """Names relative to the folder, in order, with their sizes in bytes.

    Args:
        folder: which need not be there.
        unfinished: also files that are being written, or were when their process died.

    Raises:
        BitcipherError: if the folder, or one below it, cannot be listed.
    """
    filesystem, path = url_to_fs(folder)
    with _translating_errors("list", folder, filesystem):
        if is_local(filesystem):
            sizes = dict(_local_files(path))
        else:
            sizes = {name: info["size"] for name, info in filesystem.find(path, detail=True).items()}
    names = (name for name in sorted(sizes) if unfinished or not name.endswith(UNFINISHED))
    return {os.path.relpath(name, path): sizes[name] for name in names}


def _local_files(path: str) -> Iterator[tuple[str, int]]:
    # fsspec's own listing passes over folders that it may not read, and would report a part as the whole.
    def raise_unless_gone(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    if os.path.isfile(path):
        yield path, os.path.getsize(path)
        return
    for folder, _, names in os.walk(path, onerror=raise_unless_gone):
        for name in names:
            file = os.path.join(folder, name)
            with suppress(FileNotFoundError):  # others write and remove while this looks
                yield file, os.path.getsize(file)


@contextmanager
def reading(uri: str) -> Iterator[IO[bytes]]:
    """A file opened for reading bytes.

    Raises:
        BitcipherError: if there is no such file, or it cannot be read; of a store also while the block reads.
    """
    filesystem, path = url_to_fs(uri)
    with _translating_errors("read", uri, filesystem):
        stream = open(path, "rb") if is_local(filesystem) else object_store.reader(filesystem, path, uri)
    with stream:
        yield stream


@contextmanager
def writing(uri: str) -> Iterator[IO[bytes]]:
    """A file opened for writing bytes, published under its name only if the block ends well.

    Raises:
        BitcipherError: if the target cannot be written.
    """
    filesystem, path = url_to_fs(uri)
    if is_local(filesystem):
        with _translating_errors("write", uri, filesystem), _beside(path) as unfinished:
            with open(unfinished, "xb") as stream:
                yield stream
                _flush_to_disk(stream)
            os.replace(unfinished, path)
    elif "memory" in _protocols(filesystem):  # which shows a file from its first byte
        yield (stream := io.BytesIO())
        filesystem.pipe_file(path, stream.getvalue())
    else:
        with object_store.uploading(filesystem, path, uri) as stream:
            yield stream


@contextmanager
def _beside(path: str) -> Iterator[str]:
    """A name in the same folder, at which nothing is left; what the block does to the folder is then on the disk."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    unfinished = f"{path}.{uuid.uuid4().hex}{UNFINISHED}"
    try:
        yield unfinished
    finally:
        with suppress(OSError):
            os.remove(unfinished)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_to_disk(stream: IO[bytes]) -> None:
    # Else a name could outlive a power cut without its content; some disks report only here that they are full.
    stream.flush()
    os.fsync(stream.fileno())


def create(uri: str, content: bytes) -> bool:
    """Publish a small file under a name that is not taken yet, in one step: of several writers, one gets it.

    Returns:
        Whether the name holds this content now: false if it holds another one, which stays.

    Raises:
        BitcipherError: if it cannot be written.
    """
    filesystem, path = url_to_fs(uri)
    with _translating_errors("write", uri, filesystem):
        try:
            if is_local(filesystem):
                _link_new(path, content)
            else:
                filesystem.pipe_file(path, content, mode="create")
            return True
        except Exception as error:
            if not object_store.is_taken(error):
                raise
    # An answer may be lost and the request sent again, which then finds the name taken by its own first try.
    return read_bytes(uri) == content


def _link_new(path: str, content: bytes) -> None:
    with _beside(path) as unfinished:
        with open(unfinished, "xb") as stream:
            stream.write(content)
            _flush_to_disk(stream)
        os.link(unfinished, path)  # unlike a rename, this fails where the name is taken


def read_bytes(uri: str) -> bytes | None:
    """The whole of a small file, in one request, or None if there is none.

    Raises:
        BitcipherError: if it cannot be read.
    """
    filesystem, path = url_to_fs(uri)
    with _translating_errors("read", uri, filesystem):
        try:
            return filesystem.cat_file(path)
        except FileNotFoundError:
            return None


def read_many(uris: list[str]) -> list[bytes | None]:
    """The whole of each of many small files, several at a time."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        return list(pool.map(read_bytes, uris))


def read_json(uri: str) -> dict[str, Any]:
    """The object that a JSON file holds.

    Raises:
        BitcipherError: if the file is missing or holds something else.
    """
    content = read_bytes(uri)
    if content is None:
        raise BitcipherError(f"There is no file {uri}.")
    return from_json(content, uri)


def from_json(content: bytes, uri: str) -> dict[str, Any]:
    """The object that the content of a JSON file stands for.

    Raises:
        BitcipherError: if it stands for something else.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BitcipherError(f"{uri} is not a JSON object: it is damaged, or not of bitcipher.")
    return value


def read_yaml(uri: str) -> dict[str, Any]:
    """The options in a YAML file.

    Raises:
        BitcipherError: if it is missing, is not YAML, or is no mapping.
    """
    with reading(uri) as stream:
        try:
            values = yaml.safe_load(stream)
        except yaml.YAMLError as error:
            raise BitcipherError(f"The recipe {uri} is not YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(values, dict):
        raise BitcipherError(f"The recipe {uri} must hold options as `name: value` lines.")
    return values


def to_json(content: dict[str, Any]) -> bytes:
    """An object as the content of a JSON file, readable and with its keys in the order given."""
    return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"


def write_json(uri: str, content: dict[str, Any]) -> None:
    """Write an object as JSON: in a store by a single request, since an upload in parts takes three."""
    filesystem, path = url_to_fs(uri)
    if is_local(filesystem):
        with writing(uri) as stream:
            stream.write(to_json(content))
    else:
        with _translating_errors("write", uri, filesystem):
            filesystem.pipe_file(path, to_json(content))


def read_table(uri: str) -> pa.Table:
    """The table that a Parquet file holds.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    try:
        # Not `pq.read_table`: it loads Arrow's datasets, and with them pandas, for a tenth of a second.
        with reading(uri) as stream, pq.ParquetFile(stream) as file:
            # One thread: a worker has one CPU, and a process that ends at once may trip over Arrow starting others.
            return file.read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise BitcipherError(f"{uri} is not a table in Parquet, or it is damaged: {error}.") from None


def write_table(uri: str, table: pa.Table) -> None:
    """Write a table as Parquet."""
    with writing(uri) as stream:
        pq.write_table(table, stream, compression="zstd")


def remove(uri: str) -> None:
    """Remove a file or a whole folder, if it is there.

    Raises:
        BitcipherError: if it cannot be removed.
    """
    filesystem, path = url_to_fs(uri)
    with _translating_errors("remove", uri, filesystem), suppress(FileNotFoundError, NotADirectoryError):
        if is_local(filesystem) or "memory" in _protocols(filesystem):
            filesystem.rm(path, recursive=True)
        else:
            # Not `rm`: it would take brackets in the name for a pattern, and remove other folders.
            with ThreadPoolExecutor(REQUESTS) as pool:
                list(pool.map(filesystem.rm_file, filesystem.find(path)))


def move(source: str, target: str) -> None:
    """Give a folder its final name: one rename on a local disk, a copy and a removal on object stores.

    Raises:
        BitcipherError: if the name was taken meanwhile, or cannot be written.
    """
    filesystem, path = url_to_fs(source)
    _, final = url_to_fs(target)
    with _translating_errors("write", target, filesystem):
        if is_local(filesystem):
            os.replace(path, final)
        else:
            # Not `mv`: it would copy the folder's own name too, which is no object.
            names = filesystem.find(path)
            with ThreadPoolExecutor(REQUESTS) as pool:
                list(pool.map(lambda name: filesystem.cp_file(name, final + name.removeprefix(path)), names))
                list(pool.map(filesystem.rm_file, names))
