"""Files at http:// and https:// URLs, as a read-only file system.

It replaces that of fsspec, which follows redirects to any address, does not resume interrupted downloads, and does not
notice that a file changes while it is read.
"""

import io
import re
import socket
import ssl
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from fsspec import AbstractFileSystem

from bitcipher.errors import BitcipherError
from bitcipher.files import http_connection
from bitcipher.files.object_store import ATTEMPTS
from bitcipher.files.receive_limits import read_rate_limit

PROTOCOLS = ("http", "https")
# Seconds before the second attempt. Each further wait is twice as long, as for object stores.
FIRST_WAIT_SECONDS = 1.0
# Bytes before the position that are requested again after an interruption, and compared with those read before.
OVERLAP_BYTES = 1 << 16

TRANSIENT_STATUS = (408, 425, 429, 500, 502, 503, 504)
NOT_SATISFIABLE = 416

T = TypeVar("T")


class _TransientError(Exception):
    """Failure of a server that another attempt may not have."""


_TRANSIENT = (_TransientError, TimeoutError, ConnectionError, HTTPException, ssl.SSLError)


class FileVersion(NamedTuple):
    """Version of a file on a server. If it changes, the content may have changed."""

    size: int | None
    """Size in bytes, or None if the server does not report it."""
    validator: str
    """ETag or Last-Modified header, empty if the server sends neither."""

    def may_equal(self, other: "FileVersion") -> bool:
        """Return whether both can be the same version. Responses in chunks do not have the size."""
        return self.validator == other.validator and (None in (self.size, other.size) or self.size == other.size)


class HttpFileSystem(AbstractFileSystem):
    """File system of URLs. There are no folders, because HTTP has none."""

    protocol = PROTOCOLS
    cachable = False

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path

    def unstrip_protocol(self, name: str) -> str:
        """Return the URL."""
        return name

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return size and version of a file. Signed URLs often allow GET only, so the first byte is requested."""
        with _ReadAttempts().run(lambda: _open(path, {"Range": "bytes=0-0"})) as response:
            version = _version(response)
        return {"name": path, "type": "file", "size": version.size, "ETag": version.validator}

    def exists(self, path: str, **_: Any) -> bool:
        """Return whether a file exists. Unlike fsspec's method, it raises other errors."""
        try:
            self.info(path)
        except FileNotFoundError:
            return False
        return True

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """Return the file itself."""
        info = self.info(path)
        return [info] if detail else [path]

    def glob(self, path: str, maxdepth: int | None = None, **_: Any) -> Any:
        """Return no files."""
        return {}

    def _open(self, path: str, mode: str = "rb", *_: Any, **__: Any) -> Any:
        if mode != "rb":
            raise PermissionError("files at http:// and https:// are read-only")
        return _HttpFile(path)


def open_list(url: str) -> "_HttpFile":
    """Open a list of paths. The attribute `access` of the stream says what its lines may reach, when it was read."""
    return _HttpFile(url)


class _HttpFile(io.RawIOBase):
    """Stream of a file at a URL.

    An interrupted download continues at the next byte. If the file has changed since it was opened, or the server sends
    another part than requested or more bytes than it reports, reading raises an error. The position can change if the
    server supports range requests.

    Args:
        url: the URL. Its fragment can limit what the connections reach (see `http_connection.with_access`).
    """

    def __init__(self, url: str):
        self.access = http_connection.access_of(url)
        """What the file may name if it is a list: see `http_connection.Response`."""
        self._url = url
        self._attempts = _ReadAttempts()
        self._position = 0
        self._last_bytes = b""  # before the position
        self._version: FileVersion | None = None
        self._response: http_connection.Response | None = self._attempts.run(self._connect)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        size = self._version.size if self._version else None
        if whence == io.SEEK_END and size is None:
            raise OSError(f"the server does not report the size: {_DOWNLOAD}")
        position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: size or 0}[whence]
        if position != self._position:
            self._disconnect()
            self._last_bytes = b""
        self._position = position
        return position

    def readinto(self, buffer: Any) -> int:
        size = self._version.size if self._version else None
        if not buffer:
            return 0
        if size is not None and self._position >= size:
            self._check_end()
            return 0
        announced = memoryview(buffer)[: None if size is None else size - self._position]
        count = self._attempts.run(lambda: self._read(announced))
        self._attempts.count_progress(count)
        self._position += count
        self._last_bytes = (self._last_bytes + bytes(buffer[max(0, count - OVERLAP_BYTES) : count]))[-OVERLAP_BYTES:]
        return count

    def close(self) -> None:
        self._disconnect()
        super().close()

    def _read(self, buffer: Any) -> int:
        try:
            self._response = self._response or self._connect()
            count = self._response.readinto(buffer)
        except Exception:
            self._disconnect()
            raise
        if count == 0 and self._version and self._version.size is not None:
            self._disconnect()
            raise _TransientError("the server closed the connection")
        return count

    def _check_end(self) -> None:
        """Check that the server sends nothing after the number of bytes that it reports."""
        if self._response and self._response.has_surplus():
            raise BitcipherError(f"The server of {self._url} sends more bytes than it reports: {_DOWNLOAD}.")
        self._disconnect()

    def _disconnect(self) -> None:
        response, self._response = getattr(self, "_response", None), None
        if response:
            response.close()

    def _connect(self) -> http_connection.Response:
        """Request the file from the current position to its end.

        Raises:
            BitcipherError: if the file has changed, or the server does not support requests that begin there.
        """
        headers = {}
        start = self._position - len(self._last_bytes)
        if self._version and self._position:
            if not self._version.validator:
                raise BitcipherError(
                    f"{self._url} has no ETag and no date, so it cannot be read in parts: {_DOWNLOAD}."
                )
            headers = {"Range": f"bytes={start}-"}
            if not self._version.validator.startswith("W/"):  # weak validators are not allowed here
                headers["If-Range"] = self._version.validator
        response = _open(self._url, headers)
        # Each connection can be redirected elsewhere. What one public server sends of a file is not to be trusted more.
        self.access = min(response.access, self.access, key=lambda access: access.level)
        try:
            self._check(response, start)
            self._skip_last_bytes(response)
        except Exception:
            response.close()
            raise
        return response

    def _check(self, response: http_connection.Response, start: int) -> None:
        version = _version(response)
        if self._version is None:
            if version.size is None and not response.chunked:
                raise BitcipherError(f"The server does not report the size of {self._url}: {_DOWNLOAD}.")
            self._version = version
        elif not version.may_equal(self._version):
            raise BitcipherError(f"{self._url} changed while it was read: when it is complete, run this again.")
        if self._position and response.status == 200:
            raise BitcipherError(f"The server of {self._url} does not support range requests: {_DOWNLOAD}.")
        match = re.match(r"bytes (\d+)-", response.getheader("Content-Range") or "")
        if (int(match[1]) if match else 0) != start:
            raise _TransientError("the server sent another range than requested")

    def _skip_last_bytes(self, response: http_connection.Response) -> None:
        """Read the bytes before the position again. Some servers send the beginning of a file for each range."""
        repeated = bytearray(len(self._last_bytes))
        if repeated and response.readinto(repeated) < len(repeated):
            raise _TransientError("the server closed the connection")
        if repeated != self._last_bytes:
            raise BitcipherError(
                f"The server of {self._url} sends another part of the file than requested: {_DOWNLOAD}."
            )


_DOWNLOAD = "download the file, and give the path of the copy"


class _ReadAttempts:
    """Attempts to read one file. After `ATTEMPTS` failures without progress between them, the last one is reported.

    Progress is content above the minimum rate of servers: else a server could hold a job forever with a few bytes per
    connection.
    """

    def __init__(self) -> None:
        self._limit = read_rate_limit()
        self._failures = 0
        self._received = 0
        self._seconds = 0.0

    def run(self, attempt: Callable[[], T]) -> T:
        """Return the result of the first attempt that does not fail for a transient reason."""
        while True:
            started = time.monotonic()
            try:
                return attempt()
            except ssl.SSLCertVerificationError as error:
                raise OSError(f"the certificate of the server is not valid ({error.verify_message})") from None
            except _TRANSIENT as error:
                self._failures += 1
                if self._failures >= ATTEMPTS:
                    # Messages of http.client can contain the URL, and so credentials.
                    reason = str(error) if isinstance(error, _TransientError | OSError) else type(error).__name__
                    raise OSError(f"{reason} (in {ATTEMPTS} attempts)") from None
                time.sleep(FIRST_WAIT_SECONDS * 2 ** (self._failures - 1))
            finally:
                self._seconds += time.monotonic() - started

    def count_progress(self, size: int) -> None:
        """Record that `size` bytes of the file were received, and forget failures if this was fast enough."""
        self._received += size
        if self._failures and self._received > self._limit.min_bytes_per_second * self._seconds:
            self._failures, self._received, self._seconds = 0, 0, 0.0


def _open(url: str, headers: dict[str, str]) -> http_connection.Response:
    """Return the response to a request, if it has the file or says that the range is empty."""
    try:
        response = http_connection.get(url, headers, http_connection.access_of(url))
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise _TransientError("the name of the host cannot be resolved") from None
        raise OSError("there is no host of this name") from None
    if response.status in (200, 206, NOT_SATISFIABLE):
        if _is_compressed(response, url):
            response.close()
            raise BitcipherError(
                f"The server of {url} sends the file in another encoding (Content-Encoding) than requested: "
                f"{_DOWNLOAD}."
            )
        return response
    response.close()
    status = f"the server answered with status {response.status}"
    if response.status in TRANSIENT_STATUS:
        raise _TransientError(status)
    if response.status in (404, 410):
        raise FileNotFoundError(status)
    raise PermissionError(status) if response.status in (401, 403) else OSError(status)


def _is_compressed(response: http_connection.Response, url: str) -> bool:
    """Return whether the server compressed the file. Some servers declare stored .gz files as compressed responses."""
    encoding = (response.getheader("Content-Encoding") or "identity").strip().lower()
    is_stored = encoding in ("gzip", "x-gzip") and urlsplit(url).path.lower().endswith(".gz")
    return encoding != "identity" and not is_stored


def _version(response: http_connection.Response) -> FileVersion:
    if response.status == 200:
        size = response.getheader("Content-Length") or ""
    else:
        size = (response.getheader("Content-Range") or "").rpartition("/")[2]
    validator = response.getheader("ETag") or response.getheader("Last-Modified") or ""
    return FileVersion(int(size) if size.isdecimal() else None, validator)
