"""One HTTP request: redirects, addresses that it may reach, and time limits.

A server can redirect to any address, and a list of paths can name any. Without checks, a public server could make a job
read a service that only the machine of the job can reach, such as the metadata service of a cloud. Therefore each hop
is checked, and the connection is made to the checked address, so that a second answer of DNS cannot replace it.
"""

import base64
import http.client
import io
import ipaddress
import re
import socket
import ssl
from enum import IntEnum
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult, quote, unquote, urldefrag, urljoin, urlsplit

from bitcipher.errors import BitcipherError
from bitcipher.files.object_store import CONNECT_SECONDS, READ_SECONDS
from bitcipher.files.receive_limits import HEAD_BYTES, LimitedReader, read_rate_limit

PORTS = {"http": 80, "https": 443}
MAX_REDIRECTS = 5
# Time limit of waiting for the end of the connection after a body.
END_SECONDS = 1
REDIRECTS = (301, 302, 303, 307, 308)

# Networks whose addresses contain an IPv4 address in their last 32 bits: translation by NAT64 and SIIT, and the form
# ::a.b.c.d.
_WITH_IPV4 = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")))
# All public IPv6 addresses. `is_global` is also true for others, such as those of a NAT64 of the network itself
# (64:ff9b:1::/48) and site-local ones (fec0::/10).
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
# Addresses of this machine, and of the metadata services of clouds, which answer each machine about itself: link-local,
# and those of Azure, Alibaba Cloud, Oracle Cloud, AWS and Google Cloud.
_OF_MACHINE = tuple(
    map(
        ipaddress.ip_network,
        (
            *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32"),
            *("192.0.0.192/32", "::/127", "fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128"),
        ),
    )
)
# Fragment of a URL that says what a connection to it may reach. Servers never see fragments, and `redaction` removes
# this one from all output and from stored files, because its name ends in `access`.
_FRAGMENT = "bitcipher-access="


class NetworkLevel(IntEnum):
    """Who can reach an address. A higher level is less public."""

    PUBLIC = 0
    PRIVATE = 1
    """Machines of the same network."""
    MACHINE = 2
    """This machine only: loopback, link-local and unspecified addresses, and the metadata services of clouds."""


_DESCRIPTIONS = {NetworkLevel.PRIVATE: "a private address", NetworkLevel.MACHINE: "a private address of this machine"}


class Access(NamedTuple):
    """Addresses that a request may reach."""

    level: NetworkLevel = NetworkLevel.MACHINE
    """The least public level of them."""
    endpoints: tuple[str, ...] | None = None
    """Addresses and ports of this machine among them, such as 127.0.0.1:80; None for all of them."""

    def allows(self, address: str, port: int) -> bool:
        """Return whether a request may connect to an IP address and port."""
        level = level_of(address)
        is_endpoint = self.endpoints is None or f"{address}:{port}" in self.endpoints
        return level <= self.level and (level < NetworkLevel.MACHINE or is_endpoint)


ANYWHERE = Access()
PUBLIC_ONLY = Access(NetworkLevel.PUBLIC, ())


class Response(HTTPResponse):
    """Response to a request for which the server closes the connection after the body.

    Raises:
        OSError: if the server sends less than the minimum rate, or too many bytes around the content.
    """

    access: Access
    """What the servers of all hops may name: addresses of the most public of them, and their own endpoints."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any):
        super().__init__(sock, *arguments, **options)
        self._socket = sock
        stream: Any = self.fp
        self._received = LimitedReader(stream.detach(), read_rate_limit())
        self.fp = io.BufferedReader(self._received)

    def begin(self) -> None:
        """Read the headers."""
        self._received.allow(HEAD_BYTES)
        super().begin()
        if self.length is not None:
            self.length += 1  # else http.client would ignore bytes after the announced length

    def readinto(self, buffer: Any) -> int:
        """Read content until the buffer is full, and return the number of bytes."""
        # The sizes of chunks of one byte take five bytes each.
        self._received.allow(HEAD_BYTES + 16 * len(buffer))
        return super().readinto(buffer)

    def has_surplus(self) -> bool:
        """Return whether there is a byte after the body, which was read to its announced length."""
        self._socket.settimeout(END_SECONDS)
        try:
            return bool(self.readinto(bytearray(1)))
        except (OSError, HTTPException):
            return False


def get(url: str, headers: dict[str, str], access: Access = ANYWHERE) -> Response:
    """Request a URL, and return the response after all redirects. The status can be an error.

    A redirect may reach the level of the servers before it, and more public ones.

    Args:
        url: http or https URL. A user name and password are sent to its server only.
        headers: headers of the request.
        access: addresses that the request and its redirects may reach.

    Raises:
        BitcipherError: if the URL is not valid, an address may not be reached, or there are more than `MAX_REDIRECTS`.
        OSError: if the server cannot be reached. HTTPException: if its response is not HTTP.
    """
    first = target = _split(url)
    endpoints: list[str] = []
    for _ in range(MAX_REDIRECTS + 1):
        is_redirect = target is not first
        addresses = _resolve_within(target, access, f"{url} redirects to" if is_redirect else f"{url} is at")
        is_first_server = (target.scheme, target.netloc) == (first.scheme, first.netloc)
        credentials = _credentials(first) if is_first_server else {}
        response, address = _request(target, addresses, {**headers, **credentials})
        access = access._replace(level=min(access.level, level_of(address)))
        endpoints.append(f"{address}:{_port(target)}")
        response.access = Access(access.level, tuple(endpoints) if access.level == NetworkLevel.MACHINE else ())
        location = response.getheader("Location")
        if response.status not in REDIRECTS or location is None:
            return response
        response.close()
        target = _follow(target, location, url, first)
    raise BitcipherError(f"{url} has more than {MAX_REDIRECTS} redirects: give the address of the file itself.")


def check_access(url: str, access: Access) -> None:
    """Check that the server of a URL has an address that may be reached.

    Raises:
        BitcipherError: if the URL is not valid, there is no such server, or it has no such address.
    """
    try:
        _resolve_within(_split(url), access, f"{url} is at")
    except OSError:
        raise BitcipherError(f"There is no server of {url}: check the address and the network.") from None


def with_access(url: str, access: Access) -> str:
    """Return the URL with a fragment that limits what `access_of` says."""
    return f"{urldefrag(url).url}#{_FRAGMENT}{','.join([access.level.name, *(access.endpoints or ())])}"


def access_of(url: str) -> Access:
    """Return what a request for a URL may reach: all addresses, unless `with_access` limited them."""
    fragment = urldefrag(url).fragment
    if not fragment.startswith(_FRAGMENT):
        return ANYWHERE
    level, *endpoints = fragment.removeprefix(_FRAGMENT).split(",")
    return Access(NetworkLevel[level], tuple(endpoints)) if level in NetworkLevel.__members__ else PUBLIC_ONLY


def without_access(url: str) -> str:
    """Return the URL that was given to `with_access`, without its fragment; other text as it is."""
    return url.partition(f"#{_FRAGMENT}")[0]


def level_of(address: str) -> NetworkLevel:
    """Return the level of an IP address."""
    if is_public(address):
        return NetworkLevel.PUBLIC
    return NetworkLevel.MACHINE if _is_of_machine(_parse_address(address)) else NetworkLevel.PRIVATE


def is_public(address: str) -> bool:
    """Return whether an IP address is reachable from the internet, and not only from this machine or its network."""
    ip = _parse_address(address)
    is_allocated = ip.version == 4 or ip in _GLOBAL_UNICAST
    return is_allocated and ip.is_global and not ip.is_multicast and not _is_of_machine(ip)


def _is_of_machine(ip: Any) -> bool:
    return any(ip in network for network in _OF_MACHINE if network.version == ip.version)


def _parse_address(address: str) -> Any:
    """Return an IP address; for an IPv6 address that stands for an IPv4 address, the latter."""
    ip: Any = ipaddress.ip_address(address.partition("%")[0])
    if ip.version == 4 or int(ip) <= 1:  # unspecified, and loopback
        return ip
    has_ipv4 = any(ip in network for network in _WITH_IPV4)
    return ip.ipv4_mapped or ip.sixtofour or (ipaddress.ip_address(int(ip) & 0xFFFFFFFF) if has_ipv4 else ip)


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


def _port(target: SplitResult) -> int:
    return target.port or PORTS[target.scheme]


def _resolve_within(target: SplitResult, access: Access, subject: str) -> list[str]:
    """Return the addresses of a server that may be reached.

    Args:
        target: URL of the server.
        access: addresses that may be reached.
        subject: the beginning of the error message, such as "URL redirects to".

    Raises:
        BitcipherError: if the server has no such address.
        OSError: if there is no such server.
    """
    found = socket.getaddrinfo(target.hostname, _port(target), type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    allowed = [address for address in addresses if access.allows(address, _port(target))]
    if not allowed:
        description = _DESCRIPTIONS[max(map(level_of, addresses))]
        raise BitcipherError(
            f"{subject} {target.hostname}, {description}: if you trust the server, give the address of the file itself."
        )
    return allowed


def _credentials(target: SplitResult) -> dict[str, str]:
    if target.username is None:
        return {}
    pair = f"{unquote(target.username)}:{unquote(target.password or '')}"
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


def _request(target: SplitResult, addresses: list[str], headers: dict[str, str]) -> tuple[Response, str]:
    """Return the response of the first address that accepts a connection, and this address."""
    connection = _Connection(target, addresses)
    path = target._replace(scheme="", netloc="", path=target.path or "/", fragment="").geturl()
    # Without the first header, a server could compress the file, and offsets would be those of the compressed bytes.
    # With the second, closing the response closes the connection.
    fixed = {"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "bitcipher"}
    try:
        connection.request("GET", quote(path, safe="!$%&'()*+,/:;=?@[]~"), headers={**fixed, **headers})
        return cast(Response, connection.getresponse()), connection.address
    except BaseException:
        connection.close()
        raise


class _Connection(http.client.HTTPConnection):
    """Connection to the first of some addresses that accepts it."""

    response_class = Response

    def __init__(self, target: SplitResult, addresses: list[str]):
        self._target = target
        self._addresses = addresses
        self.address = ""
        self.default_port = PORTS[target.scheme]
        super().__init__(target.hostname or "", target.port or self.default_port)

    def connect(self) -> None:
        connected = self._connect_to_first()
        if self._target.scheme == "https":
            # The time limit of a connection is that of the whole handshake.
            connected = ssl.create_default_context().wrap_socket(connected, server_hostname=self._target.hostname)
        connected.settimeout(READ_SECONDS)
        self.sock = connected

    def _connect_to_first(self) -> socket.socket:
        failure: OSError | None = None
        for address in self._addresses:
            try:
                connected = socket.create_connection((address, self.port), CONNECT_SECONDS)
            except OSError as error:
                failure = error
            else:
                self.address = address
                return connected
        raise failure or ConnectionError("the server has no address")
