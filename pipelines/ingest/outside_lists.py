"""What a list of paths from outside may name: a list on a web server, in a store, or in a chained URI.

Its author is not the user, but its files are read on the machine of the user, with the credentials of the user. It may
therefore name web addresses that are as public as its own server, and objects of its own bucket. Everything else is
refused, whatever protocol it has. A list on this machine is the user's own, and may name what the command line can.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.http_connection import PUBLIC_ONLY, Access, check_access, with_access
from bitcipher.files.object_store import OBJECT_STORES
from bitcipher.files.records import Metavar, Strings
from pipelines.ingest.hf_datasets import is_dataset

# Protocols that a user can allow. Local files, chains, and file systems that execute or mount something are not there.
ALLOWABLE = (*OBJECT_STORES, "hf")
# Protocols of the same store.
_SAME_STORE = {"s3a": "s3", "gcs": "gs", "abfss": "abfs", "az": "abfs"}

_URI = re.compile(r"([a-z][a-z0-9+.-]*)://([^/].*)")
# The beginning of a path of this machine. `hf:///` is a folder of a dataset.
_LOCAL = re.compile(r"[/~\\]|(file|local):|hf:///|[a-z]:", re.IGNORECASE)


def _check_protocols(protocols: tuple[str, ...]) -> tuple[str, ...]:
    for protocol in protocols:
        if protocol not in ALLOWABLE:
            raise ValueError(
                f"`list_protocols` must be of {', '.join(ALLOWABLE)}, got {protocol!r}: a list from outside can never "
                "name files of this machine, chained URIs, or other file systems. Save the list on this machine, where "
                "its lines mean what they mean on the command line."
            )
    return protocols


ListProtocols = Annotated[
    Strings,
    AfterValidator(_check_protocols),
    Metavar("PROTOCOL"),
    Field(
        description="Protocol of other stores that a list of paths on a server or in a store may name, such as s3. Its "
        "files are read with your credentials. Repeat for several."
    ),
]


class OutsideList:
    """Lines of a list from outside.

    Args:
        uri: URI of the list, without a query.
        access: addresses that its lines may reach; None if it is not on a web server.
        protocols: protocols of other stores that the user allows; None if there is no option for them.
    """

    def __init__(self, uri: str, access: Access | None, protocols: Sequence[str] | None):
        self._uri = uri
        self._access = PUBLIC_ONLY if access is None else access
        self._protocols = protocols
        # Chained URIs have no bucket that is theirs.
        self._own = None if storage.is_web_address(uri) or "::" in uri else _bucket(uri)

    def resolve(self, lines: Iterable[tuple[int, str]], ending: Sequence[str]) -> list[str]:
        """Return the URIs that all lines name.

        Args:
            lines: number and text of each line.
            ending: endings of lists, which a list may not name.

        Raises:
            BitcipherError: if the list may not name one of them. Nothing is opened before.
        """
        checked: set[str] = set()
        return [self._resolve(number, line, tuple(ending), checked) for number, line in lines]

    def _resolve(self, number: int, line: str, endings: tuple[str, ...], checked: set[str]) -> str:
        uri = line if storage.is_web_address(line) or _URI.fullmatch(line) else self._absolute(number, line)
        if uri.split("?")[0].lower().endswith(endings):
            raise self._error(number, line, "another list", "Give that list itself.")
        if storage.is_web_address(uri):
            self._check_address(number, line, uri, checked)
            return with_access(uri, self._access)
        bucket = _bucket(uri)
        if "::" in uri or bucket is None or is_dataset(uri) or ".." in uri.split("/"):
            raise self._error(number, line, "neither a file on a web server nor an object of a bucket")
        if bucket != self._own and bucket[0] not in map(_store, self._protocols or ()):
            protocol = uri.partition(":")[0]
            advice = f"or allow its protocol with `--list-protocols {protocol}` (in a recipe, `list_protocols`)"
            can_be_allowed = protocol in ALLOWABLE and self._protocols is not None
            raise self._error(
                number,
                line,
                "which is not in its own bucket",
                f"If you trust the list, give the path itself, {advice}." if can_be_allowed else None,
            )
        return uri

    def _absolute(self, number: int, line: str) -> str:
        """Return the URI of a line that is relative to the folder of the list."""
        if _LOCAL.match(line) or line == "-":
            raise self._error(number, line, "a file of this machine")
        if "::" in line or ":" in line.split("/")[0] or "://" in line:
            raise self._error(number, line, "neither a web address nor a relative path")
        if "::" in self._uri and not storage.is_web_address(self._uri):
            raise self._error(number, line, "a path relative to a chained URI")
        return f"{self._uri.rpartition('/')[0]}/{line}"

    def _check_address(self, number: int, line: str, url: str, checked: set[str]) -> None:
        try:
            server = url.partition("://")[0] + urlsplit(url).netloc
            if server not in checked:
                check_access(url, self._access)
            checked.add(server)
        except (BitcipherError, ValueError) as error:
            reason = str(error) if isinstance(error, BitcipherError) else "It is not a valid address."
            raise BitcipherError(f"Line {number} of {self._uri} cannot be used: {reason}") from None

    def _error(self, number: int, line: str, what: str, advice: str | None = None) -> BitcipherError:
        way_on = (
            advice or "If you trust the list, save it on this machine with full addresses, or give the path itself."
        )
        return BitcipherError(
            f"Line {number} of {self._uri} names {line}, {what}: a list from outside can name web addresses and "
            f"objects of its own bucket. {way_on}"
        )


def _store(protocol: str) -> str:
    return _SAME_STORE.get(protocol, protocol)


def _bucket(uri: str) -> tuple[str, ...] | None:
    """Return store and bucket of a URI: the host and, on the Hub, the repository; None if it has none."""
    match = _URI.fullmatch(uri)
    if match is None:
        return None
    store, parts = _store(match[1]), match[2].split("/")
    if store == "hf":
        number = 3 if parts[0] in ("datasets", "spaces", "buckets") else 2
        names = [*parts[: number - 1], *(name.partition("@")[0] for name in parts[number - 1 : number])]
    else:
        # Names of access points of S3 have two parts.
        names = parts[: 2 if parts[0].startswith("arn:") else 1]
    return (store, *names)
