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
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple, TypeVar

from fsspec import AbstractFileSystem

from bitcipher import http_connection
from bitcipher.errors import BitcipherError
from bitcipher.object_store import ATTEMPTS

PROTOCOLS = ("http", "https")
# Seconds before the second attempt. Each further wait is twice as long, as for object stores.
FIRST_WAIT_SECONDS = 1.0

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


def is_url(uri: str) -> bool:
    """Return whether a URI is an http:// or https:// URL."""
    return uri.lower().startswith(("http://", "https://"))


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
        with _retry(lambda: _open(path, {"Range": "bytes=0-0"})) as response:
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


class _HttpFile(io.RawIOBase):
    """Stream of a file at a URL.

    An interrupted download continues at the next byte. If the file has changed since it was opened, reading raises an
    error. The position can change if the server supports range requests.
    """

    def __init__(self, url: str):
        self._url = url
        self._position = 0
        self._version: FileVersion | None = None
        self._response: HTTPResponse | None = _retry(self._connect)

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
        self._position = position
        return position

    def readinto(self, buffer: Any) -> int:
        size = self._version.size if self._version else None
        if not buffer or (size is not None and self._position >= size):
            return 0
        count = _retry(lambda: self._read(buffer))
        self._position += count
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

    def _disconnect(self) -> None:
        response, self._response = getattr(self, "_response", None), None
        if response:
            response.close()

    def _connect(self) -> HTTPResponse:
        """Request the file from the current position to its end.

        Raises:
            BitcipherError: if the file has changed, or the server does not support requests that begin there.
        """
        headers = {}
        if self._version and self._position:
            if not self._version.validator:
                raise BitcipherError(
                    f"{self._url} has no ETag and no date, so it cannot be read in parts: {_DOWNLOAD}."
                )
            headers = {"Range": f"bytes={self._position}-"}
            if not self._version.validator.startswith("W/"):  # weak validators are not allowed here
                headers["If-Range"] = self._version.validator
        response = _open(self._url, headers)
        try:
            self._check(response)
        except Exception:
            response.close()
            raise
        return response

    def _check(self, response: HTTPResponse) -> None:
        version = _version(response)
        if self._version is None:
            if version.size is None and not response.chunked:
                raise BitcipherError(f"The server does not report the size of {self._url}: {_DOWNLOAD}.")
            self._version = version
        elif version != self._version:
            raise BitcipherError(f"{self._url} changed while it was read: when it is complete, run this again.")
        if self._position and response.status == 200:
            raise BitcipherError(f"The server of {self._url} does not support range requests: {_DOWNLOAD}.")
        start = re.match(r"bytes (\d+)-", response.getheader("Content-Range") or "")
        if (int(start[1]) if start else 0) != self._position:
            raise _TransientError("the server sent another range than requested")


_DOWNLOAD = "download the file, and give the path of the copy"


def _retry(attempt: Callable[[], T]) -> T:
    """Return the result of the first attempt that does not fail for a transient reason."""
    for number in range(ATTEMPTS):
        try:
            return attempt()
        except ssl.SSLCertVerificationError as error:
            raise OSError(f"the certificate of the server is not valid ({error.verify_message})") from None
        except _TRANSIENT as error:
            if number == ATTEMPTS - 1:
                # Messages of http.client can contain the URL, and so credentials.
                reason = str(error) if isinstance(error, _TransientError | OSError) else type(error).__name__
                raise OSError(f"{reason} (in {ATTEMPTS} attempts)") from None
            time.sleep(FIRST_WAIT_SECONDS * 2**number)
    raise AssertionError


def _open(url: str, headers: dict[str, str]) -> HTTPResponse:
    """Return the response to a request, if it has the file or says that the range is empty."""
    try:
        response = http_connection.get(url, headers)
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise _TransientError("the name of the host cannot be resolved") from None
        raise OSError("there is no host of this name") from None
    if response.status in (200, 206, NOT_SATISFIABLE):
        return response
    response.close()
    status = f"the server answered with status {response.status}"
    if response.status in TRANSIENT_STATUS:
        raise _TransientError(status)
    if response.status in (404, 410):
        raise FileNotFoundError(status)
    raise PermissionError(status) if response.status in (401, 403) else OSError(status)


def _version(response: HTTPResponse) -> FileVersion:
    if response.status == 200:
        size = response.getheader("Content-Length") or ""
    else:
        size = (response.getheader("Content-Range") or "").rpartition("/")[2]
    validator = response.getheader("ETag") or response.getheader("Last-Modified") or ""
    return FileVersion(int(size) if size.isdecimal() else None, validator)
