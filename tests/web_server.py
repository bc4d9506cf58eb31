"""HTTP server on loopback that injects faults."""

import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WebServer:
    """Server of files by path, such as `/a.txt`. The attributes change its behavior.

    `requests` has the method, path and headers of each request.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.required_query = ""
        self.authorization: str | None = None
        self.supports_ranges = True
        self.sends_size = True
        self.validators = True
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

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.port = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"
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
        ranges = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
        is_same = handler.headers.get("If-Range") in (None, headers.get("ETag"))
        if ranges and self.supports_ranges and is_same:
            start, size = int(ranges[1]), len(content)
            if start >= size:
                return _send(handler, 416, {**headers, "Content-Range": f"bytes */{size}"}, b"")
            stop = min(size, int(ranges[2]) + 1) if ranges[2] else size
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
            return self._send_body(handler, 206, headers, content[start:stop])
        return self._send_body(handler, 200, headers, content)

    def _send_body(self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes) -> None:
        cut = self.cut_after.pop(0) if self.cut_after and len(body) > 1 else None
        _send(handler, status, headers, body, cut, sends_size=self.sends_size)


def _send(
    handler: BaseHTTPRequestHandler,
    status: int,
    headers: dict[str, str],
    body: bytes,
    cut: int | None = None,
    *,
    sends_size: bool = True,
) -> None:
    handler.send_response_only(status)
    if sends_size:
        headers = {**headers, "Content-Length": str(len(body))}
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body[:cut])
    handler.close_connection = True
