"""Stores elsewhere (s3://, gs://, abfs://): how their clients are set, and what they raise, told in a sentence."""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import fsspec

from bitcipher.errors import BitcipherError

# Loopback and clouds accept within milliseconds; ten seconds cover a lost packet and its repetition.
CONNECT_SECONDS = 10
# The silence after which a request is given up and sent again. A store that is busy says so (503) within seconds.
READ_SECONDS = 20
# Tries of one request that meets 500, 502, 503, 504, silence or a broken connection, with waits of up to 1, 2, 4, 8 s.
ATTEMPTS = 5
# Rounds of such tries where a store asks for fewer requests, stays silent, or breaks off a body. s3fs goes round twice,
# one within the other, when it reads: with its own five rounds a dead store would be told after 42 minutes, not 15.
ROUNDS = 3
# Read ahead, and gathered before a part is sent. s3fs' own 50 MiB would make gigabytes of the 64 files of a merge.
BLOCK_BYTES = 8 << 20

S3 = ("s3", "s3a")
OBJECT_STORES = (*S3, "gs", "gcs", "abfs", "abfss", "az")

# The last is what a limit on the size of files gives.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")


def connect(uri: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """The file system that a URI names, and the path in it."""
    filesystem, path = fsspec.core.url_to_fs(uri, **settings(uri))
    if fsspec.core.split_protocol(uri)[0] in S3:
        filesystem.retries = ROUNDS
    return filesystem, path


def settings(uri: str) -> dict[str, Any]:
    """What the client of the URI's store is opened with.

    What a user sets wins: in fsspec's configuration (its files, or variables such as FSSPEC_S3), and for the number
    and manner of retries also AWS_MAX_ATTEMPTS and AWS_RETRY_MODE.
    """
    protocol, _ = fsspec.core.split_protocol(uri)
    if protocol not in OBJECT_STORES:
        return {}
    # Other processes write to the same folders, so no listing may be answered from memory: this is not to be set.
    fixed = {"use_listings_cache": False}
    if protocol not in S3:
        return fixed
    config: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS}
    if not {"AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE"} & set(os.environ):
        config["retries"] = {"mode": "standard", "total_max_attempts": ATTEMPTS}
    chosen = {name: value for each in S3 for name, value in fsspec.config.conf.get(each, {}).items()}
    config |= chosen.get("config_kwargs", {})
    # With more than one transfer at a time s3fs asks for a file's size before it fetches it: two requests for one.
    return {"default_block_size": BLOCK_BYTES, "max_concurrency": 1} | chosen | {"config_kwargs": config} | fixed


@contextmanager
def translating_errors(action: str, uri: str, *, is_local: bool) -> Iterator[None]:
    """A block that calls a disk or a store: what they raise becomes a sentence.

    Args:
        action: what is tried, as in "Cannot write".
        uri: the file or folder.
        is_local: if not, whatever is raised is an error of the store or of its client, which know no common class.
    """
    errors: type[Exception] = OSError if is_local else Exception
    try:
        yield
    except BitcipherError:
        raise
    except errors as error:
        raise BitcipherError(_sentence(action, uri, error, is_local)) from error


def _sentence(action: str, uri: str, error: Exception, is_local: bool) -> str:
    if action == "read" and isinstance(error, FileNotFoundError):
        return f"There is no file {uri}."
    if getattr(error, "errno", None) in NO_ROOM:
        return (
            f"Cannot {action} {uri}: there is no room left, on the disk or in a quota or limit. "
            "Make room there and run this again."
        )
    reason = " ".join(str(getattr(error, "strerror", None) or error).split()).rstrip(".") or type(error).__name__
    if is_local:
        return f"Cannot {action} {uri}: {reason}."
    return (
        f"Cannot {action} {uri}: {reason}. "
        "Check that address, your credentials and rights, and the network; then run this again."
    )


def is_taken(error: Exception) -> bool:
    """Whether a store refused a file because its name is taken: s3fs tells it by class only if the store says why."""
    if isinstance(error, FileExistsError):
        return True
    answer = getattr(error.__cause__, "response", None) or {}
    return answer.get("Error", {}).get("Code") in TAKEN


class _Stream(io.RawIOBase):
    """A file of a store whose errors, met anywhere in reading or writing, are sentences."""

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


def reader(filesystem: fsspec.AbstractFileSystem, path: str, uri: str) -> io.BufferedReader:
    """A file of a store opened for reading bytes.

    Raises:
        BitcipherError: if there is none, or it cannot be read, now or when it is read.
    """
    with translating_errors("read", uri, is_local=False):
        stream = filesystem.open(path, "rb")
    return io.BufferedReader(_Reader(stream, "read", uri))


@contextmanager
def uploading(filesystem: fsspec.AbstractFileSystem, path: str, uri: str) -> Iterator[IO[bytes]]:
    """A file of a store opened for writing bytes: the store shows it only if the block ends well.

    Raises:
        BitcipherError: if it cannot be written.
    """
    with translating_errors("write", uri, is_local=False):
        stream = filesystem.open(path, "wb", autocommit=False)
    try:
        yield _Writer(stream, "write", uri)
        with translating_errors("write", uri, is_local=False):
            stream.close()
            stream.commit()
    except BaseException:
        stream.closed = True  # or its destructor would send the rest
        # The error that led here is the one to tell; parts that cannot be dropped now are seen by nobody.
        with suppress(Exception):
            stream.discard()
        raise
