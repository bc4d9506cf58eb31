"""Client settings, streams and error messages for object stores (s3://, gs://, abfs://)."""

import errno
import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import fsspec.config

from bitcipher.errors import BitcipherError
from bitcipher.installation import install_command

# Time limit of a connection. Stores accept connections within milliseconds; ten seconds allow for a lost packet.
CONNECT_SECONDS = 10
# Time without data after which a request is retried. A busy store answers 503 within seconds.
READ_SECONDS = 20
# Maximum attempts per request. A request is repeated after status 500, 502, 503 or 504, a timeout or a broken
# connection, with waits of up to 1, 2, 4 and 8 s.
ATTEMPTS = 5
# Rounds of these attempts if a store throttles requests, times out, or closes the connection within a body. When s3fs
# reads, it nests two loops of rounds: with its default of 5, a dead store would be reported after 42 minutes, not 15.
RETRY_ROUNDS = 3
# Size of read-ahead and of upload parts. A merge reads 64 files at once, which would take gigabytes of memory with the
# default of s3fs, 50 MiB.
BLOCK_BYTES = 8 << 20

S3 = ("s3", "s3a")
OBJECT_STORES = (*S3, "gs", "gcs", "abfs", "abfss", "az")
# Libraries of stores that no extra has.
PACKAGES = {"gs": "gcsfs", "gcs": "gcsfs", **dict.fromkeys(("abfs", "abfss", "az"), "adlfs")}

# EFBIG means that the file exceeds a limit on file sizes.
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Message of the constructor of a file system, if a URI lacks a part, such as the host.
_MISSING_ARGUMENTS = re.compile(r"__init__\(\) missing \d+ required positional arguments?: (.+)")
NAME_EXISTS = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")


def connect(uri: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """Return the file system of a URI, and the path in it."""
    filesystem, path = fsspec.core.url_to_fs(uri, **settings(uri))
    if fsspec.core.split_protocol(uri)[0] in S3:
        filesystem.retries = RETRY_ROUNDS
    return filesystem, path


def settings(uri: str) -> dict[str, Any]:
    """Return the client settings for the store of a URI.

    User settings take precedence: those of fsspec's configuration (its files, or variables such as FSSPEC_S3), and
    AWS_MAX_ATTEMPTS and AWS_RETRY_MODE for retries.
    """
    protocol, _ = fsspec.core.split_protocol(uri)
    if protocol not in OBJECT_STORES:
        return {}
    # Other processes write to the same folders, so listings must not be cached. Users cannot override this.
    required = {"use_listings_cache": False}
    if protocol not in S3:
        return required
    config: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS}
    if not {"AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE"} & set(os.environ):
        config["retries"] = {"mode": "standard", "total_max_attempts": ATTEMPTS}
    user_settings = {name: value for each in S3 for name, value in fsspec.config.conf.get(each, {}).items()}
    config |= user_settings.get("config_kwargs", {})
    # With more than one concurrent transfer, s3fs would request the size of a file before it reads the file.
    defaults = {"default_block_size": BLOCK_BYTES, "max_concurrency": 1}
    return defaults | user_settings | {"config_kwargs": config} | required


def installation(uri: str) -> str | None:
    """Return the command that installs the library of a store, as part of a sentence; None for other protocols."""
    protocol, _ = fsspec.core.split_protocol(uri)
    if protocol not in OBJECT_STORES:
        return None
    command = install_command("s3") if protocol in S3 else f"pip install {PACKAGES[protocol]}"
    return f"its library is not installed: run `{command}`"


@contextmanager
def translating_errors(action: str, uri: str, *, is_local: bool) -> Iterator[None]:
    """Turn errors of a disk or an object store, raised in the `with` block, into `BitcipherError`.

    Args:
        action: the verb of the message, such as "write" in "Cannot write".
        uri: the file or folder.
        is_local: whether the URI is on a local disk. If not, all exceptions of the block are translated, since clients
            of object stores have no common class of errors.
    """
    errors: type[Exception] = OSError if is_local else Exception
    try:
        yield
    except BitcipherError:
        raise
    except errors as error:
        raise BitcipherError(_describe(action, uri, error, is_local)) from error


def _describe(action: str, uri: str, error: Exception, is_local: bool) -> str:
    if action == "read" and isinstance(error, FileNotFoundError):
        return f"There is no file {uri}."
    if getattr(error, "errno", None) in DISK_FULL:
        return (
            f"Cannot {action} {uri}: the disk is full, or a quota or file size limit is reached. "
            "Free some space and run this again."
        )
    reason = " ".join(str(getattr(error, "strerror", None) or error).split()).rstrip(".") or type(error).__name__
    if is_local:
        return f"Cannot {action} {uri}: {reason}."
    if isinstance(error, TypeError) and (missing := _MISSING_ARGUMENTS.search(reason)):
        return f"Cannot {action} {uri}: its protocol needs {missing[1]}, which this URI does not name."
    # botocore's name. s3fs can wrap the error.
    if "NoCredentialsError" in (type(error).__name__, type(error.__cause__).__name__):
        return (
            f"Cannot {action} {uri}: there are no credentials. Set AWS_PROFILE or AWS_ACCESS_KEY_ID, or set "
            "FSSPEC_S3_ANON=true to read a public bucket."
        )
    if "Connection refused" in reason:
        return f"Cannot {action} {uri}: {reason}. No server listens at this address: check its host and port."
    return (
        f"Cannot {action} {uri}: {reason}. "
        "Check the address, your credentials and permissions, and the network; then run this again."
    )


def is_name_conflict(error: Exception) -> bool:
    """Return whether a store rejected a file because its name exists.

    s3fs raises FileExistsError only if the store gives a reason.
    """
    if isinstance(error, FileExistsError):
        return True
    response = getattr(error.__cause__, "response", None) or {}
    return response.get("Error", {}).get("Code") in NAME_EXISTS


class _Stream(io.RawIOBase):
    """A file of a store that turns all errors into `BitcipherError`."""

    def __init__(self, stream: IO[bytes], action: str, uri: str):
        self._stream = stream
        self._action = action
        self._uri = uri

    def _translating_errors(self) -> Any:
        return translating_errors(self._action, self._uri, is_local=False)

    def tell(self) -> int:
        return self._stream.tell()


class _Reader(_Stream):
    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        with self._translating_errors():
            data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        with self._translating_errors():
            return self._stream.read()

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Writer(_Stream):
    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with self._translating_errors():
            return self._stream.write(data)


def reader(open_file: Callable[[], Any], uri: str) -> io.BufferedReader:
    """Open a file of a store for reading bytes.

    Args:
        open_file: function that returns a stream of the file.
        uri: the file, for error messages.

    Raises:
        BitcipherError: if the file is missing or cannot be read. Reading the stream can raise this error too.
    """
    with translating_errors("read", uri, is_local=False):
        stream = open_file()
    return io.BufferedReader(_Reader(stream, "read", uri))


@contextmanager
def uploading(filesystem: fsspec.AbstractFileSystem, path: str, uri: str) -> Iterator[Any]:
    """Open a file of a store for writing bytes. The file appears only if the `with` block ends without an error.

    Raises:
        BitcipherError: if the file cannot be written.
    """
    with translating_errors("write", uri, is_local=False):
        stream: Any = filesystem.open(path, "wb", autocommit=False)
    try:
        yield _Writer(stream, "write", uri)
        with translating_errors("write", uri, is_local=False):
            stream.close()
            stream.commit()
    except BaseException:
        stream.closed = True  # otherwise its destructor would upload the rest
        # Report the original error. Upload parts that cannot be discarded stay invisible.
        with suppress(Exception):
            stream.discard()
        raise
