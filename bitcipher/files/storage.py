"""Files and folders by path or URI, on local disks and in stores that fsspec supports (s3://, gs://, memory://).

Files at http:// and https:// are read-only.

A file appears under its name only when it is complete. On a local disk it is written under a unique temporary name and
then renamed; object stores show an object when its upload is complete.
"""

import io
import os
import re
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import IO, Any

import fsspec

from bitcipher.errors import BitcipherError
from bitcipher.files import http_files, object_store

# Suffix of files that are being written on a local disk, or that a dead process left behind. Listings skip them.
UNFINISHED = ".unfinished"
# Maximum concurrent requests to a store. Each takes about 30 ms, of which nearly all is waiting for the response.
REQUESTS = 16


def url_to_fs(uri: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """Return the file system of a URI, and the path in it.

    Raises:
        BitcipherError: if the protocol is unknown, its library is not installed, its file system cannot be opened, or
            the name is not UTF-8.
    """
    try:
        uri.encode()
    except UnicodeEncodeError:
        raise BitcipherError(f"The name {uri} is not UTF-8: rename the file or folder, or choose another.") from None
    if is_web_address(uri):
        return http_files.HttpFileSystem(), uri
    # Each file system raises exceptions of its own, and some connect to their server already here.
    with object_store.translating_errors("reach", uri, is_local=False):
        try:
            return object_store.connect(uri)
        except ImportError as error:
            raise BitcipherError(f"Cannot reach {uri}: {object_store.installation(uri) or error}.") from None
        except ValueError as error:
            raise BitcipherError(f"Cannot reach {uri}: {error}.") from None


def is_web_address(uri: str) -> bool:
    """Return whether a URI is an address of the web, where files can be read, but folders have no list of files."""
    return uri.lower().startswith(("http://", "https://"))


def without_query(uri: str) -> str:
    """Return a web address without its query and fragment, and any other path or URI as it is.

    In object stores and on disks, a question mark is part of the name.
    """
    return re.split("[?#]", uri)[0] if is_web_address(uri) else uri


def join(folder: str, *names: str) -> str:
    """Return the URI of a file or folder from the folder that contains it and the names below this folder."""
    return "/".join([folder.rstrip("/"), *names])


def absolute(uri: str) -> str:
    """Return the absolute path of a local URI, or the URI itself. Workers do not share the working directory."""
    return local_path(uri) or uri


def local_path(uri: str) -> str | None:
    """Return the local path of a URI, or None if it is not local."""
    filesystem, path = url_to_fs(uri)
    return path if is_local(filesystem) else None


def is_local(filesystem: fsspec.AbstractFileSystem) -> bool:
    """Return whether the file system is local."""
    return "file" in _protocols(filesystem)


def _protocols(filesystem: fsspec.AbstractFileSystem) -> tuple[str, ...]:
    protocol = filesystem.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


def _translating_errors(action: str, uri: str, filesystem: fsspec.AbstractFileSystem) -> AbstractContextManager[None]:
    return object_store.translating_errors(action, uri, is_local=is_local(filesystem))


def exists(uri: str) -> bool:
    """Return whether a file or folder exists. A symbolic link to a missing file exists, too: its name is taken.

    Raises:
        BitcipherError: if the store cannot be queried.
    """
    filesystem, path = url_to_fs(uri)
    with _translating_errors("look for", uri, filesystem):
        return os.path.lexists(path) if is_local(filesystem) else filesystem.exists(path)


def check_new(uri: str) -> None:
    """Check that no file or folder has a name.

    Raises:
        BitcipherError: if a file, a folder or a symbolic link has this name, or if the store cannot be queried.
    """
    if exists(uri):
        raise BitcipherError(f"{uri} already exists: choose another name, or remove it first.")


def is_local_file(uri: str) -> bool:
    """Return whether a URI is a file on a local disk."""
    path = local_path(uri)
    return path is not None and os.path.isfile(path)


def is_link(uri: str) -> bool:
    """Return whether a local path is a symbolic link."""
    path = local_path(uri)
    return path is not None and os.path.islink(path)


def list_files(folder: str, *, unfinished: bool = False) -> dict[str, int]:
    """Return the files below a folder: relative names in order, with their sizes in bytes.

    Args:
        folder: path or URI; a missing folder has no files.
        unfinished: whether to include files that are being written, or that a dead process left behind.

    Raises:
        BitcipherError: if the folder, or one below it, cannot be listed.
    """
    filesystem, path = url_to_fs(folder)
    with _translating_errors("list", folder, filesystem):
        if is_local(filesystem):
            sizes = dict(_local_files(path))
        else:
            entries: Any = filesystem.find(path, detail=True)
            sizes = {name: info["size"] for name, info in entries.items()}
    names = (name for name in sorted(sizes) if unfinished or not name.endswith(UNFINISHED))
    return {os.path.relpath(name, path): sizes[name] for name in names}


def _local_files(path: str) -> Iterator[tuple[str, int]]:
    # fsspec's own listing silently skips folders without read permission.
    def raise_unless_missing(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    if os.path.isfile(path):
        yield path, os.path.getsize(path)
        return
    for folder, _, names in os.walk(path, onerror=raise_unless_missing):
        for name in names:
            file = os.path.join(folder, name)
            with suppress(FileNotFoundError):  # other processes can remove files during the listing
                yield file, os.path.getsize(file)


@contextmanager
def reading(uri: str) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes.

    Raises:
        BitcipherError: if there is no such file, or it cannot be read. Reading the stream of a file in an object store
            can raise this error too.
    """
    filesystem, path = url_to_fs(uri)
    with _translating_errors("read", uri, filesystem):
        local = is_local(filesystem)
        stream = open(path, "rb") if local else object_store.reader(lambda: filesystem.open(path, "rb"), uri)
    with stream:
        yield stream


@contextmanager
def writing(uri: str, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes. The file appears under its name only if the `with` block ends without an error.

    Args:
        uri: the file.
        durable: whether the file has its content even after a power cut. Without, temporary files are written faster.

    Raises:
        BitcipherError: if the target cannot be written.
    """
    filesystem, path = url_to_fs(uri)
    if is_local(filesystem):
        with _translating_errors("write", uri, filesystem), _temporary_file(path) as unfinished:
            with open(unfinished, "xb") as stream:
                yield stream
                if durable:
                    _flush_to_disk(stream)
            os.replace(unfinished, path)
    elif "memory" in _protocols(filesystem):  # fsspec shows a memory file while it is written
        yield (stream := io.BytesIO())
        filesystem.pipe_file(path, stream.getvalue())
    else:
        with object_store.uploading(filesystem, path, uri) as stream:
            yield stream


@contextmanager
def writing_new(uri: str) -> Iterator[IO[bytes]]:
    """Open a new file for writing bytes, like `writing`. A file that appears under the name in the meantime is kept.

    Raises:
        BitcipherError: if the file exists at the end of the `with` block, or cannot be written.
    """
    with writing(uri) as stream:
        yield stream
        check_new(uri)


@contextmanager
def _temporary_file(path: str) -> Iterator[str]:
    """Yield a temporary name in the same folder, remove it afterwards, and flush the folder to disk."""
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
    # Without this, a power cut could leave a file without its content. Some disks report only here that they are full.
    stream.flush()
    os.fsync(stream.fileno())


def create(uri: str, content: bytes) -> bool:
    """Create a small file atomically if its name does not exist. Of several writers, exactly one succeeds.

    Returns:
        Whether the file has this content now. An existing file with other content is not changed.

    Raises:
        BitcipherError: if the file cannot be written.
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
            if not object_store.is_name_conflict(error):
                raise
    # If a response was lost, the client retried the request, which then conflicted with the file of the first attempt.
    return read_bytes(uri) == content


def _link_new(path: str, content: bytes) -> None:
    with _temporary_file(path) as unfinished:
        with open(unfinished, "xb") as stream:
            stream.write(content)
            _flush_to_disk(stream)
        os.link(unfinished, path)  # unlike a rename, this fails if the name exists


def read_bytes(uri: str) -> bytes | None:
    """Return the content of a small file, in one request, or None if it does not exist.

    Raises:
        BitcipherError: if it cannot be read.
    """
    filesystem, path = url_to_fs(uri)
    with _translating_errors("read", uri, filesystem):
        try:
            content: Any = filesystem.cat_file(path)
            return content
        except FileNotFoundError:
            return None


def read_many(uris: list[str]) -> list[bytes | None]:
    """Return the contents of many small files, read concurrently; None for files that do not exist."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        return list(pool.map(read_bytes, uris))


def write_bytes(uri: str, content: bytes) -> None:
    """Write a small file. In an object store this takes one request; a multipart upload would take three.

    Raises:
        BitcipherError: if the file cannot be written.
    """
    filesystem, path = url_to_fs(uri)
    if is_local(filesystem):
        with writing(uri) as stream:
            stream.write(content)
    else:
        with _translating_errors("write", uri, filesystem):
            filesystem.pipe_file(path, content)


def remove(uri: str) -> None:
    """Remove a file or a folder with its content, if it exists.

    A symbolic link is neither removed nor followed: bitcipher creates none, so it belongs to the user.

    Raises:
        BitcipherError: if it cannot be removed.
    """
    if is_link(uri):
        return
    filesystem, path = url_to_fs(uri)
    with _translating_errors("remove", uri, filesystem), suppress(FileNotFoundError, NotADirectoryError):
        if is_local(filesystem) or "memory" in _protocols(filesystem):
            filesystem.rm(path, recursive=True)
        else:
            # `rm` would treat brackets in the name as a pattern and remove other folders.
            with ThreadPoolExecutor(REQUESTS) as pool:
                list(pool.map(filesystem.rm_file, filesystem.find(path)))


def move(source: str, target: str) -> None:
    """Move a folder to its final name: a rename on a local disk, a copy and a removal in object stores.

    Raises:
        BitcipherError: if the target exists, or cannot be written.
    """
    filesystem, path = url_to_fs(source)
    _, final = url_to_fs(target)
    check_new(target)  # a rename would replace an empty folder, and a copy would mix the files of two folders
    with _translating_errors("write", target, filesystem):
        if is_local(filesystem):
            os.replace(path, final)
        else:
            # `mv` would also try to copy the name of the folder, which is not an object.
            names = filesystem.find(path)
            with ThreadPoolExecutor(REQUESTS) as pool:
                list(pool.map(lambda name: filesystem.cp_file(name, final + name.removeprefix(path)), names))
                list(pool.map(filesystem.rm_file, names))


@contextmanager
def temporary_folder(uri: str) -> Iterator[str]:
    """Yield a unique name next to `uri` for a folder of temporary files, which is removed after the `with` block."""
    folder = f"{uri.rstrip('/')}.{uuid.uuid4().hex}.tmp"
    try:
        yield folder
    finally:
        remove(folder)


@contextmanager
def writing_folder(uri: str) -> Iterator[str]:
    """Yield a temporary folder next to `uri`, and rename it to `uri` if the `with` block ends without an error.

    Raises:
        BitcipherError: if the folder exists at the end of the block, or cannot be written.
    """
    try:
        with temporary_folder(uri) as unfinished:
            yield unfinished
            move(unfinished, uri)
    except OSError as error:
        raise BitcipherError(f"Cannot write {uri}: {error.strerror or error}.") from error
