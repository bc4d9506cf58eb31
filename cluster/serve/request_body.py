"""`RequestBodies`: bodies of requests, which are read with limits of size and time before anything else is done."""

import asyncio
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cluster.serve.error_answers import RETRY_SECONDS, answer_error
from cluster.serve.request_records import MAX_BODY_BYTES

# Seconds in which a body must arrive: 280 kbit/s for the largest one.
BODY_SECONDS = 30.0

# Bytes of all bodies that are read at the same time, so that many clients cannot fill the memory.
MAX_BYTES_OF_ALL = 64 * MAX_BODY_BYTES


class RequestBodies:
    """ASGI middleware that reads the body of a request, and passes it on in one piece.

    It refuses bodies that are larger than `MAX_BODY_BYTES`, whatever size they announce, and those that do not arrive
    in time.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp):
        self._app = app
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = dict(scope["headers"])
        size = headers.get(b"content-length", b"")
        if scope["method"] in ("POST", "PUT", "PATCH") and not size.isdigit():
            sentence = "The request has no Content-Length: send it."
            return await answer_error(HTTPStatus.LENGTH_REQUIRED, sentence)(scope, receive, send)
        try:
            body = await self._read(int(size or 0), receive)
        except _RefusedBodyError as error:
            return await answer_error(error.status, str(error), error.headers)(scope, receive, send)
        if body is not None:
            await self._app(scope, _replay(body, receive), send)

    async def _read(self, announced: int, receive: Receive) -> bytes | None:
        """Return a body, or None if the client has gone.

        Raises:
            _RefusedBodyError: if it is too large or too slow.
        """
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    if max(announced, size) > MAX_BODY_BYTES:
                        raise _RefusedBodyError(
                            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                            f"The body has more than {MAX_BODY_BYTES:,} bytes: send several requests.",
                        )
                    if self._bytes > MAX_BYTES_OF_ALL:
                        raise _RefusedBodyError(
                            HTTPStatus.SERVICE_UNAVAILABLE, "The server reads too many bodies already: try again later."
                        )
                    message: Message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    self._bytes += len(parts[-1])
                    if not message.get("more_body", False) and size <= MAX_BODY_BYTES:
                        return b"".join(parts)
        except TimeoutError:
            sentence = f"The body did not arrive in {BODY_SECONDS:.0f} seconds: send the request again."
            raise _RefusedBodyError(HTTPStatus.REQUEST_TIMEOUT, sentence) from None
        finally:
            self._bytes -= size


class _RefusedBodyError(Exception):
    """Error for a body that is not read to its end.

    Args:
        status: status of the answer.
        sentence: the reason.
    """

    def __init__(self, status: HTTPStatus, sentence: str):
        super().__init__(sentence)
        self.status = status
        self.headers = {"Retry-After": RETRY_SECONDS} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a function that returns a body once, and then what the connection says."""
    is_read = False

    async def replay() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
