"""Access to the server: names of hosts, pages of other sites, a token, and requests per client."""

import hmac
import re
from collections import Counter
from http import HTTPStatus
from ipaddress import ip_address
from typing import NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.text_files import read_lines
from cluster.serve.error_answers import RETRY_SECONDS, answer_error

# Path that needs no token, because the probes of Kubernetes and of load balancers have none.
HEALTH = "/health"

# Sites of requests that a browser may send: from the page of the server, or from the user, such as by a bookmark.
TRUSTED_SITES = (b"", b"same-origin", b"none")

# Fewer characters could be guessed.
MIN_TOKEN = 16
_WRITE_TOKEN = "write one into it, for example by `openssl rand -hex 32`"


class AccessRules(NamedTuple):
    """Rules about which requests are answered. By default, all are."""

    hosts: frozenset[str] | None = None
    """Names that the header `Host` may have, in lower case and without a port; None for any."""
    token: str | None = None
    """Token that the header `Authorization` must have; None for none."""
    requests_per_client: int | None = None
    """Maximum number of requests in progress per client; None for any number."""
    client_header: str | None = None
    """Header by which a trusted proxy names the client; None for the address of the connection."""


ANY_REQUEST = AccessRules()


def allowed_hosts(host: str, address: str, others: list[str]) -> frozenset[str] | None:
    """Return the names that the header `Host` may have, or None for any.

    A page can let a name of its own resolve to the address of the server (DNS rebinding), and so read answers from a
    browser that can reach the server. Its requests have this name in `Host`. A server on a loopback address relies on
    being unreachable, so it answers only to names of this machine and to those that are given.

    Args:
        host: name or address to listen on, as the user gave it.
        address: IP address that it listens on.
        others: names that are given.

    Raises:
        BitcipherError: if one of them is not a name or an address.
    """
    given = {_check_host(each) for each in others}
    if is_loopback(address):
        return frozenset({host.lower(), address, "localhost", "127.0.0.1", "::1"} | given)
    return frozenset(given) or None


def _check_host(name: str) -> str:
    if _host_in(name) != name.lower().strip("[]") or not name:
        raise BitcipherError(
            f"`--allowed-host` must be a name without protocol and port, such as vectors.example.org, got {name!r}."
        )
    return name.lower().strip("[]")


def check_header(name: str) -> str:
    """Return the name of a header that can name a client.

    Raises:
        BitcipherError: if it is not the name of a header, or that of one that does not name clients.
    """
    if not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name, re.ASCII) or name.lower() in ("host", "authorization"):
        raise BitcipherError(
            f"`--client-header` must be the name of a header in which a proxy names the client, such as "
            f"X-Forwarded-For, got {name!r}."
        )
    return name


def is_loopback(address: str) -> bool:
    """Return whether an IP address can be reached from this machine only."""
    ip = ip_address(address.partition("%")[0])
    return (getattr(ip, "ipv4_mapped", None) or ip).is_loopback


def read_token(path: str) -> str:
    """Return the token in a file of one line.

    Raises:
        BitcipherError: if the file cannot be read, or does not hold one token.
    """
    if not storage.exists(path):
        raise BitcipherError(f"`--token-file` names {path}, which does not exist: {_WRITE_TOKEN}.")
    lines = [line.strip() for line in read_lines(path, max_bytes=1 << 16)]
    (token, *rest) = lines or [""]
    if len(token) < MIN_TOKEN or any(rest) or not (token.isascii() and token.isprintable() and " " not in token):
        raise BitcipherError(
            f"{path} must have one line with a token of at least {MIN_TOKEN} ASCII characters without spaces: "
            f"{_WRITE_TOKEN}."
        )
    return token


class AccessControl:
    """ASGI middleware that refuses requests that are not allowed.

    Args:
        app: the application.
        access: which requests are answered.
    """

    def __init__(self, app: ASGIApp, access: AccessRules):
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
        host = _host_in(headers.get(b"host", b"").decode("latin-1"))
        if self._access.hosts is None or host in self._access.hosts:
            return None
        sentence = (
            f"The header Host has {host!r}, to which this server does not answer: start it with `--allowed-host`."
            if host
            else "The request has no header Host with a valid name: send one."
        )
        return answer_error(HTTPStatus.MISDIRECTED_REQUEST, str(BitcipherError(sentence)))

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
        problem = "The token is not that of the server" if given else "The request needs the token of the server"
        sentence = f"{problem}: send the header `Authorization: Bearer TOKEN`."
        return answer_error(HTTPStatus.UNAUTHORIZED, sentence, {"WWW-Authenticate": "Bearer"})

    def _client_of(self, scope: Scope, headers: dict[bytes, bytes]) -> bytes | str:
        if self._access.client_header:
            # Each proxy appends the address of its client, so only the last one is from the trusted proxy.
            named = headers.get(self._access.client_header.lower().encode(), b"").rpartition(b",")[2].strip()
            if named:
                return named
        return scope["client"][0] if scope["client"] else ""


def _host_in(header: str) -> str:
    """Return the name in a header `Host`, in lower case and without its port; an empty string if it has none."""
    match = re.fullmatch(r"(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d*)?", header, re.ASCII | re.IGNORECASE)
    return (match[1] or match[2]).lower() if match else ""
