"""HTTP server on loopback that injects faults."""

import gzip
import hashlib
import re
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WebServer:
    """Server of files by path, such as `/a.txt`. The attributes change its behavior.

    `requests` has the method, path and headers of each request.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host, self.port = host, port
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.required_query = ""
        self.authorization: str | None = None
        self.supports_ranges = True
        self.sends_size = True
        self.validators = True
        self.size_factor = 1.0
        """Announced size of a file, by its size. The server sends the whole file for each range beyond its end."""
        self.changes_bodies = False
        """Whether each body has other bytes, of the same size and under the same ETag."""
        self.sends_chunks = False
        self.encoding: str | None = None
        """Content-Encoding, in which bodies are compressed if it is gzip."""
        self.cut_after: list[int] = []
        """Number of bytes after which the next bodies end too early."""
        self.statuses: list[int] = []
        """Status codes of the next responses."""
        self.requests: list[tuple[str, dict[str, str]]] = []

    def __enter__(self) -> "WebServer":
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((self.host, self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.port = self._server.server_address[1]
        self.address = f"http://{self.host}:{self.port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path, _, query = handler.path.partition("?")
        self.requests.append((handler.path, dict(handler.headers)))
        is_allowed = query == self.required_query or not self.required_query
        content = self.files.get(path)
        if self.statuses:
            return _send(handler, self.statuses.pop(0), {}, b"")
        if path in self.redirects:
            return _send(handler, 302, {"Location": self.redirects[path]}, b"")
        if not is_allowed or (self.authorization and handler.headers.get("Authorization") != self.authorization):
            return _send(handler, 403, {}, b"")
        if content is None:
            return _send(handler, 404, {}, b"")
        headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()[:8]}"'} if self.validators else {}
        if self.changes_bodies:
            content = _change(content, len(self.requests))
        if self.encoding:
            headers["Content-Encoding"] = self.encoding
            content = gzip.compress(content) if self.encoding == "gzip" else content
        size = int(self.size_factor * len(content))
        ranges = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
        is_same = handler.headers.get("If-Range") in (None, headers.get("ETag"))
        if ranges and self.supports_ranges and is_same:
            start = int(ranges[1])
            if start >= size:
                return _send(handler, 416, {**headers, "Content-Range": f"bytes */{size}"}, b"")
            stop = min(size, int(ranges[2]) + 1) if ranges[2] else size
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
            body = content[start:stop] if stop <= len(content) else content
            return self._send_body(handler, 206, headers, body, stop - start)
        return self._send_body(handler, 200, headers, content, size)

    def _send_body(
        self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes, size: int
    ) -> None:
        cut = self.cut_after.pop(0) if self.cut_after and len(body) > 1 else None
        if self.sends_chunks:
            headers = {**headers, "Transfer-Encoding": "chunked"}
            middle = len(body) // 2
            chunks = [each for each in (body[:middle], body[middle:]) if each]
            body = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in [*chunks, b""])
        elif self.sends_size:
            headers = {**headers, "Content-Length": str(size)}
        _send(handler, status, headers, body, cut)


def _change(content: bytes, number: int) -> bytes:
    """Return the bytes with other letters in place of `t`, so that their length and lines are the same."""
    return content.replace(b"t", bytes([ord("a") + number % 26]))


def _send(
    handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes, cut: int | None = None
) -> None:
    handler.send_response_only(status)
    if "Transfer-Encoding" not in headers and status >= 300:
        headers = {**headers, "Content-Length": str(len(body))}
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    with suppress(ConnectionError):  # the client can close the connection first
        handler.wfile.write(body[:cut])
    handler.close_connection = True
