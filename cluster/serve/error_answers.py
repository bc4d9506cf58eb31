"""Answers to requests that fail: a JSON object with one sentence, and a status."""

from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.files.records import Record, describe_mistake

# Value of the header Retry-After.
RETRY_SECONDS = "1"


def error_content(sentence: str) -> bytes:
    """Return the content of the answer to a request that fails."""
    return orjson.dumps({"error": sentence})


def answer_error(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """Return the answer to a request that fails."""
    return Response(error_content(sentence), status, headers, "application/json")


def add_error_answers(app: FastAPI, records: dict[str, type[Record]]) -> None:
    """Let an application answer all errors by `answer_error`.

    Args:
        app: the application, with all its paths.
        records: the arguments of a path, by path.
    """

    @app.exception_handler(UnknownWordError)
    async def answer_unknown_word(request: Request, error: UnknownWordError) -> Response:
        return answer_error(HTTPStatus.NOT_FOUND, error.problem)

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
