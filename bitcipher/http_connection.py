"""One HTTP request: redirects, addresses that a redirect may reach, and time limits.

A server can redirect to any address. Without checks, a public server could make a job read a service that only the
machine of the job can reach, such as the metadata service of a cloud. Therefore each hop is checked, and the
connection is made to the checked address, so that a second answer of DNS cannot replace it.
"""

import base64
import http.client
import ipaddress
import re
import socket
import ssl
from http.client import HTTPException, HTTPResponse
from typing import Any, cast
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from bitcipher.errors import BitcipherError
from bitcipher.object_store import CONNECT_SECONDS, READ_SECONDS

PORTS = {"http": 80, "https": 443}
MAX_REDIRECTS = 5
# Time limit of waiting for the end of the connection after a body.
END_SECONDS = 1
REDIRECTS = (301, 302, 303, 307, 308)

# Networks whose addresses contain an IPv4 address in their last 32 bits: translation by NAT64.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Response(HTTPResponse):
    """Response to a request for which the server closes the connection after the body."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any):
        super().__init__(sock, *arguments, **options)
        self._socket = sock

    def begin(self) -> None:
        """Read the headers."""
        super().begin()
        if self.length is not None:
            self.length += 1  # else http.client would ignore bytes after the announced length

    def has_surplus(self) -> bool:
        """Return whether there is a byte after the body, which was read to its announced length."""
        self._socket.settimeout(END_SECONDS)
        try:
            return bool(self.readinto(bytearray(1)))
        except (OSError, HTTPException):
            return False


def get(url: str, headers: dict[str, str]) -> Response:
    """Request a URL, and return the response after all redirects. The status can be an error.

    Args:
        url: http or https URL. A user name and password are sent to its server only.
        headers: headers of the request.

    Raises:
        BitcipherError: if the URL is not valid, a redirect is not allowed, or there are more than `MAX_REDIRECTS`.
        OSError: if the server cannot be reached. HTTPException: if its response is not HTTP.
    """
    first = target = _split(url)
    may_be_private = True  # the user knows the address
    for _ in range(MAX_REDIRECTS + 1):
        addresses = _resolve(target)
        if not may_be_private and not all(map(is_public, addresses)):
            raise BitcipherError(
                f"{url} redirects to {target.hostname}, a private address: if you trust the server, give the address "
                "of the file itself."
            )
        if target is first:
            may_be_private = not all(map(is_public, addresses))
        is_first_server = (target.scheme, target.netloc) == (first.scheme, first.netloc)
        response = _request(target, addresses, {**headers, **(_credentials(first) if is_first_server else {})})
        location = response.getheader("Location")
        if response.status not in REDIRECTS or location is None:
            return response
        response.close()
        target = _follow(target, location, url, first)
    raise BitcipherError(f"{url} has more than {MAX_REDIRECTS} redirects: give the address of the file itself.")


def is_public_server(url: str) -> bool:
    """Return whether all addresses of the server of a URL are public.

    Raises:
        BitcipherError: if the URL is not valid, or there is no such server.
    """
    try:
        return all(map(is_public, _resolve(_split(url))))
    except OSError:
        raise BitcipherError(f"There is no server of {url}: check the address and the network.") from None


def is_public(address: str) -> bool:
    """Return whether an IP address is reachable from the internet, and not only from this machine or its network."""
    ip: Any = ipaddress.ip_address(address.partition("%")[0])
    if ip.version == 6:
        embedded = (
            ip.ipv4_mapped or ip.sixtofour or (ipaddress.ip_address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)
        )
        ip = embedded or ip
    return ip.is_global and not ip.is_multicast


def _split(url: str) -> SplitResult:
    if re.search(r"[\s\x00-\x1f\x7f]", url):
        raise BitcipherError(f"{url.partition('?')[0]} has white space: write %20 instead.")
    try:
        parts = urlsplit(url)
        has_server = bool(parts.hostname) and parts.port != 0
    except ValueError:  # the message of the error can contain a password
        has_server = False
    if not has_server:
        raise BitcipherError(f"{url} has no valid host and port: correct the address.")
    return parts


def _follow(target: SplitResult, location: str, url: str, first: SplitResult) -> SplitResult:
    """Return the target of a redirect. User names and passwords in it are not sent, except those the user gave."""
    parts = _split(urljoin(target.geturl(), quote(location, safe="!#$%&'()*+,/:;=?@[]~")))
    if parts.scheme not in PORTS:
        raise BitcipherError(f"{url} redirects to {parts.scheme}://, which is not a web address: download the file.")
    is_first_server = (parts.scheme, parts.hostname, parts.port) == (first.scheme, first.hostname, first.port)
    return parts._replace(netloc=first.netloc if is_first_server else parts.netloc.rpartition("@")[2])


def _resolve(target: SplitResult) -> list[str]:
    port = target.port or PORTS[target.scheme]
    found = socket.getaddrinfo(target.hostname, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _credentials(target: SplitResult) -> dict[str, str]:
    if target.username is None:
        return {}
    pair = f"{unquote(target.username)}:{unquote(target.password or '')}"
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


def _request(target: SplitResult, addresses: list[str], headers: dict[str, str]) -> Response:
    connection = _Connection(target, addresses)
    path = target._replace(scheme="", netloc="", path=target.path or "/", fragment="").geturl()
    # Without the first header, a server could compress the file, and offsets would be those of the compressed bytes.
    # With the second, closing the response closes the connection.
    fixed = {"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "bitcipher"}
    try:
        connection.request("GET", quote(path, safe="!$%&'()*+,/:;=?@[]~"), headers={**fixed, **headers})
        return cast(Response, connection.getresponse())
    except BaseException:
        connection.close()
        raise


class _Connection(http.client.HTTPConnection):
    """Connection to the first of some addresses that accepts it."""

    response_class = Response

    def __init__(self, target: SplitResult, addresses: list[str]):
        self._target = target
        self._addresses = addresses
        self.default_port = PORTS[target.scheme]
        super().__init__(target.hostname or "", target.port or self.default_port)

    def connect(self) -> None:
        *others, last = self._addresses
        for address in others:
            try:
                connected = socket.create_connection((address, self.port), CONNECT_SECONDS)
                break
            except OSError:
                continue
        else:
            connected = socket.create_connection((last, self.port), CONNECT_SECONDS)
        if self._target.scheme == "https":
            connected = ssl.create_default_context().wrap_socket(connected, server_hostname=self._target.hostname)
        connected.settimeout(READ_SECONDS)
        self.sock = connected
