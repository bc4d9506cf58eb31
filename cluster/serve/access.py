"""Access to the server: names of hosts, pages of other sites, a token, and requests per client."""

import hmac
from collections import Counter
from http import HTTPStatus
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from bitcipher.errors import BitcipherError
from bitcipher.text_files import read_lines
from cluster.serve.error_answers import RETRY_SECONDS, answer_error

# Path that needs no token, because the probes of Kubernetes and of load balancers have none.
HEALTH = "/health"

# Sites of requests that a browser may send: from the page of the server, or from the user, such as by a bookmark.
TRUSTED_SITES = (b"", b"same-origin", b"none")

# Fewer characters could be guessed.
MIN_TOKEN = 16


class Access(NamedTuple):
    """Which requests are answered. By default, all are."""

    hosts: frozenset[str] | None = None
    """Names that the header `Host` may have, in lower case and without a port; None for any."""
    token: str | None = None
    """Token that the header `Authorization` must have; None for none."""
    requests_per_client: int | None = None
    """Maximum number of requests in progress per client; None for any number."""
    client_header: str | None = None
    """Header by which a trusted proxy names the client; None for the address of the connection."""


ANY_REQUEST = Access()


def allowed_hosts(host: str, address: str, others: list[str]) -> frozenset[str] | None:
    """Return the names that the header `Host` may have, or None for any.

    A page can let a name of its own resolve to the address of the server (DNS rebinding), and so read answers from a
    browser that can reach the server. Its requests have this name in `Host`. A server on a loopback address relies on
    being unreachable, so it answers only to names of this machine and to those that are given.

    Args:
        host: name or address to listen on, as the user gave it.
        address: IP address that it listens on.
        others: names that are given.
    """
    given = {each.lower() for each in others}
    if is_loopback(address):
        return frozenset({host.lower(), address, "localhost", "127.0.0.1", "::1"} | given)
    return frozenset(given) or None


def is_loopback(address: str) -> bool:
    """Return whether an IP address can be reached from this machine only."""
    ip = ip_address(address.partition("%")[0])
    return (getattr(ip, "ipv4_mapped", None) or ip).is_loopback


def read_token(path: str) -> str:
    """Return the token in a file of one line.

    Raises:
        BitcipherError: if the file cannot be read, or does not hold one token.
    """
    lines = [line.strip() for line in read_lines(path, max_bytes=1 << 16)]
    (token, *rest) = lines or [""]
    if len(token) < MIN_TOKEN or any(rest) or not (token.isascii() and token.isprintable() and " " not in token):
        raise BitcipherError(
            f"{path} must have one line with a token of at least {MIN_TOKEN} ASCII characters without spaces: write "
            "one, for example by `openssl rand -hex 32`."
        )
    return token


class AccessControl:
    """ASGI middleware that refuses requests that are not allowed.

    Args:
        app: the application.
        access: which requests are answered.
    """

    def __init__(self, app: ASGIApp, access: Access):
        self._app, self._access = app, access
        self._token = f"Bearer {access.token}".encode() if access.token else None
        self._requests: Counter[bytes | str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers: dict[bytes, bytes] = dict(scope["headers"])
        refusal = self._refuse_host(headers) or self._refuse_site(headers) or self._refuse_token(scope, headers)
        limit = self._access.requests_per_client
        if refusal or limit is None:
            return await (refusal or self._app)(scope, receive, send)
        client = self._client_of(scope, headers)
        if self._requests[client] >= limit:
            sentence = f"This client has {limit:,} requests in progress already: wait for their answers."
            refusal = answer_error(HTTPStatus.TOO_MANY_REQUESTS, sentence, {"Retry-After": RETRY_SECONDS})
            return await refusal(scope, receive, send)
        self._requests[client] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._requests[client] -= 1
            if not self._requests[client]:
                del self._requests[client]  # else clients of all times would be kept

    def _refuse_host(self, headers: dict[bytes, bytes]) -> ASGIApp | None:
        if self._access.hosts is None or _host_of(headers) in self._access.hosts:
            return None
        sentence = "The server is not known by the name in the header Host: start it with `--allowed-host` NAME."
        return answer_error(HTTPStatus.MISDIRECTED_REQUEST, sentence)

    @staticmethod
    def _refuse_site(headers: dict[bytes, bytes]) -> ASGIApp | None:
        """Refuse what a page of another site sends: it cannot read the answers, but can let the server work."""
        is_navigation = headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"
        if headers.get(b"sec-fetch-site", b"") in TRUSTED_SITES or is_navigation:
            return None
        return answer_error(HTTPStatus.FORBIDDEN, "The request is from a page of another site: ask from a program.")

    def _refuse_token(self, scope: Scope, headers: dict[bytes, bytes]) -> ASGIApp | None:
        given = headers.get(b"authorization", b"")
        if self._token is None or scope["path"] == HEALTH or hmac.compare_digest(given, self._token):
            return None
        sentence = "The request needs the token of the server: send the header `Authorization: Bearer TOKEN`."
        return answer_error(HTTPStatus.UNAUTHORIZED, sentence, {"WWW-Authenticate": "Bearer"})

    def _client_of(self, scope: Scope, headers: dict[bytes, bytes]) -> bytes | str:
        if self._access.client_header:
            # Each proxy appends the address of its client, so only the last one is from the trusted proxy.
            named = headers.get(self._access.client_header.lower().encode(), b"").rpartition(b",")[2].strip()
            if named:
                return named
        return scope["client"][0] if scope["client"] else ""


def _host_of(headers: dict[bytes, bytes]) -> str:
    """Return the name in the header `Host`, without its port; an empty string if it has none."""
    try:
        return urlsplit("//" + headers.get(b"host", b"").decode("ascii")).hostname or ""
    except ValueError:
        return ""
