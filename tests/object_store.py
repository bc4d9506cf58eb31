"""S3 server on loopback, and a proxy that injects faults."""

import http.client
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest.mock import patch
from urllib.parse import urlsplit

ERRORS = {"SlowDown": 503, "InternalError": 500, "AccessDenied": 403}

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "NO_PROXY": "127.0.0.1",
}


@contextmanager
def serving() -> Iterator[str]:
    """Run a server whose address is set in the environment of this process and its children."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # suppress one log line per request
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    try:
        with patch.dict(os.environ, {**ENVIRONMENT, "AWS_ENDPOINT_URL": address}):
            yield address
    finally:
        server.stop()


@dataclass
class Fault:
    """Fault of the next requests with given methods.

    Args:
        what: a key of ERRORS for an error response; "hang": no response; "slow": a response after `seconds`;
            "break": the response body is truncated; "lose": the request is executed, but its response is lost.
        methods: HTTP methods separated by spaces, such as "GET PUT".
        times: number of requests.
        seconds: delay of a slow response.
    """

    what: str
    methods: str = "GET HEAD PUT POST DELETE"
    times: float = float("inf")
    seconds: float = 0.0


class FaultyStore:
    """Proxy of an S3 server. Tests add faults to `plan` and read the received requests from `requests`."""

    def __init__(self, upstream: str):
        self.plan: list[Fault] = []
        self.requests: list[str] = []
        self._upstream = urlsplit(upstream).netloc
        self._ended = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> "FaultyStore":
        store = self

        class Handler(_Handler):
            def handle_request(self) -> None:
                store.answer(self)

        class Server(ThreadingHTTPServer):
            request_queue_size = 128  # connections dropped by a full queue would be unplanned faults

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.address = "http://{}:{}".format(*self._server.server_address)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Respond to one request with its fault or with the response of the server."""
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        fault = self._next_fault(handler.command, handler.path)
        if fault.what in ERRORS:
            xml = f'<?xml version="1.0"?><Error><Code>{fault.what}</Code><Message>Injected</Message></Error>'.encode()
            headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(xml)))]
            _send(handler, ERRORS[fault.what], headers, xml)
            return
        if fault.what == "hang":
            self._ended.wait()
            handler.close_connection = True
            return
        time.sleep(fault.seconds)
        connection = http.client.HTTPConnection(self._upstream)
        connection.request(handler.command, handler.path, body, dict(handler.headers))
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if fault.what == "lose":
            handler.close_connection = True
            return
        hop = ("transfer-encoding", "connection", "content-length")
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in hop]
        length = answer.getheader("Content-Length") if handler.command == "HEAD" else str(len(content))
        headers.append(("Content-Length", length or "0"))
        if fault.what == "break":
            content = content[: len(content) // 2]
            handler.close_connection = True
        _send(handler, answer.status, headers, content)

    def _next_fault(self, method: str, path: str) -> Fault:
        with self._lock:
            self.requests.append(f"{method} {path}")
            for fault in self.plan:
                if fault.times > 0 and method in fault.methods.split():
                    fault.times -= 1
                    return fault
        return Fault("none")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_request(self) -> None:
        raise NotImplementedError

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = lambda self: self.handle_request()

    def log_message(self, *_: object) -> None:
        pass


def _send(handler: BaseHTTPRequestHandler, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
    handler.send_response_only(status)
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(content)
