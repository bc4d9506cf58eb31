"""Answers to requests that fail: a JSON object with one sentence, and a status."""

from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.records import Record, describe_mistake
from cluster.serve.request_pool import BusyError
from cluster.serve.request_records import MAX_BODY_BYTES

RETRY_SECONDS = "1"


def answer_error(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """Return the answer to a request that fails."""
    return Response(orjson.dumps({"error": sentence}), status, headers, "application/json")


def add_error_answers(app: FastAPI, records: dict[str, type[Record]]) -> None:
    """Let an application answer all errors by `answer_error`.

    Args:
        app: the application, with all its paths.
        records: the arguments of a path, by path.
    """

    @app.exception_handler(UnknownWordError)
    async def answer_unknown_word(request: Request, error: UnknownWordError) -> Response:
        return answer_error(HTTPStatus.NOT_FOUND, error.problem)

    @app.exception_handler(BusyError)
    async def answer_busy(request: Request, error: BusyError) -> Response:
        return answer_error(HTTPStatus.SERVICE_UNAVAILABLE, str(error), {"Retry-After": RETRY_SECONDS})

    @app.exception_handler(BitcipherError)
    async def answer_mistake(request: Request, error: BitcipherError) -> Response:
        return answer_error(HTTPStatus.BAD_REQUEST, str(error))

    @app.exception_handler(RequestValidationError)
    async def answer_invalid(request: Request, error: RequestValidationError) -> Response:
        # BitcipherError shortens long values and removes credentials.
        sentence = _describe(error.errors()[0], records[request.url.path])
        return answer_error(HTTPStatus.UNPROCESSABLE_ENTITY, str(BitcipherError(sentence)))

    @app.exception_handler(HTTPException)
    async def answer_wrong_path(request: Request, error: HTTPException) -> Response:
        path, headers = request.url.path, dict(error.headers or {})
        sentence = f"{error.detail}."
        if error.status_code == HTTPStatus.NOT_FOUND:
            paths = ", ".join(sorted(getattr(route, "path", "") for route in app.routes))
            sentence = f"There is no path {path}: choose from {paths}."
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            sentence = f"{path} has no method {request.method}: use {headers.get('Allow', 'another one')}."
        return answer_error(error.status_code, str(BitcipherError(sentence)), headers)

    @app.exception_handler(Exception)
    async def answer_bug(request: Request, error: Exception) -> Response:
        return answer_error(HTTPStatus.INTERNAL_SERVER_ERROR, "The server has failed: its log has the reason.")


def _describe(mistake: dict[str, Any], record: type[Record]) -> str:
    """Return a mistake that FastAPI has found as one sentence."""
    part, *field = mistake["loc"]  # the first element says where the arguments are: "query" or "body"
    if mistake["type"] == "json_invalid":
        return f"The body is not JSON: {mistake['ctx']['error']}."
    if not field:
        return f"The {part} must be a JSON object with {', '.join(record.model_fields)}, sent as application/json."
    return describe_mistake({**mistake, "loc": tuple(field)}, record)  # pyright: ignore[reportArgumentType]


class BodyLimit:
    """ASGI middleware that refuses large bodies, and those of unknown size, before they are read."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        app = self._app
        if scope["type"] == "http" and scope["method"] == "POST":
            size = dict(scope["headers"]).get(b"content-length", b"")
            if not size.isdigit():
                app = answer_error(HTTPStatus.LENGTH_REQUIRED, "The request has no Content-Length: send it.")
            elif int(size) > MAX_BODY_BYTES:
                sentence = f"The body has more than {MAX_BODY_BYTES:,} bytes: send several requests."
                app = answer_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)
        await app(scope, receive, send)
