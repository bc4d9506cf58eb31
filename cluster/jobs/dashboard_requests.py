"""Requests to a Ray dashboard that end in time and take little memory, whatever the server answers."""

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bitcipher.errors import BitcipherError, first_line

if TYPE_CHECKING:
    import requests

# Maximum time between two parts of an answer. A dashboard that takes longer is probably behind a firewall that drops
# packets.
TIMEOUT_SECONDS = 10

# Maximum time of a request by its method. The upload of the code is a PUT. After the POST of a job, Ray waits for
# nodes.
TOTAL_SECONDS = {"GET": 30, "POST": 120, "PUT": 900}

# Maximum size of an answer. The largest ones are lists of jobs.
MAX_ANSWER_BYTES = 32 << 20

_READ_BYTES = 1 << 16

# Maximum length of an error message of the server.
MAX_CHARACTERS = 300

# Exceptions of Ray's client and of `requests` if a server fails, or answers in another form than Ray's job server.
SERVER_ERRORS = (RuntimeError, OSError, ValueError, TypeError, LookupError, AttributeError)

# What the last four mean. Their messages name parts of the program instead of the server.
_FORM_ERRORS = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


def send(address: str, method: str, function: "Callable[..., requests.Response]") -> "requests.Response":
    """Return the answer of a function that sends a request, with its whole body.

    Args:
        address: URL of the dashboard, for error messages.
        method: method of the request.
        function: sends the request, with the keyword arguments of `requests.request` that it gets.

    Raises:
        BitcipherError: if the answer is a redirect, is too large, or takes too long.
        Exception: those of the function.
    """
    result: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answer = function(
                allow_redirects=False,
                stream=True,
                timeout=TIMEOUT_SECONDS,
                hooks={"response": lambda response, **_: _read_body(address, response)},
            )
            result.put((answer, None))
        except BaseException as error:
            result.put((None, error))

    # A thread, because a timeout of `requests` begins again with each byte. At exit, nothing waits for it.
    threading.Thread(target=run, daemon=True).start()
    try:
        answer, error = result.get(timeout=TOTAL_SECONDS[method])
    except queue.Empty:
        raise BitcipherError(
            f"The server at {address} did not finish its answer within {TOTAL_SECONDS[method]} s: check the address."
        ) from None
    if error is not None:
        raise error
    return answer


def _read_body(address: str, response: "requests.Response") -> None:
    """Read the body of an answer, before `requests` or Ray's client do it without a limit."""
    if response.is_redirect:
        raise BitcipherError(
            f"The server at {address} redirects to {response.headers['Location']}: give the address of the Ray "
            "dashboard itself."
        )
    body = bytearray()
    for part in response.iter_content(_READ_BYTES):
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise BitcipherError(
                f"The server at {address} sends more than {MAX_ANSWER_BYTES >> 20} MiB: check that it is a Ray "
                "dashboard."
            )
    response._content = bytes(body)  # where `requests` keeps it


def describe(error: Exception) -> str:
    """Return what is wrong with a server or its answer, without a final period."""
    import requests

    if isinstance(error, requests.RequestException) and not isinstance(error, requests.JSONDecodeError):
        if isinstance(error, requests.Timeout) or "timed out" in str(error):
            return "no response in time"
        if isinstance(error, requests.exceptions.ChunkedEncodingError | requests.exceptions.ContentDecodingError):
            return "its answer is damaged"
        is_other = any(name in str(error) for name in ("BadStatusLine", "RemoteDisconnected", "HTTPException"))
        return "no answer of HTTP" if is_other else "no connection"
    if isinstance(error, _FORM_ERRORS):
        return "its answer is not one of Ray's job server"
    return first_line(error)[:MAX_CHARACTERS]
