"""Rule that drops pages of blocked hosts."""

from functools import cache
from typing import Annotated, Literal, Self

from pydantic import model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Metavar, Strings
from bitcipher.files.text_files import read_lines
from pipelines.clean.base import CleaningRule, Drop
from pipelines.clean.document import Document


class BlocklistRule(CleaningRule):
    """Drops pages of blocked hosts. A host blocks itself and its subdomains. Documents without a URL are kept."""

    rule: Literal["blocklist"] = "blocklist"
    """Drop pages of blocked hosts and their subdomains."""
    hosts: Strings = ()
    """Blocked hosts, such as [example.com]."""
    path: Annotated[str | None, Metavar("PATH")] = None
    """Text file of blocked hosts, one per line. Empty lines and lines that begin with # are ignored."""

    @model_validator(mode="after")
    def _check_not_empty(self) -> Self:
        if not self.hosts and self.path is None:
            raise ValueError("the rule blocklist blocks nothing: set `hosts` or `path`.")
        return self

    def paths(self) -> tuple[str, ...]:
        """Return the file of hosts, if there is one."""
        return () if self.path is None else (self.path,)

    def load(self) -> None:
        """Read the file of hosts, also if this process has read an earlier content of it."""
        _blocked.cache_clear()
        _blocked(self.hosts, self.path)

    def apply(self, document: Document) -> Document | Drop:
        """Drop the document if its host, or a domain that contains the host, is blocked."""
        blocked = _blocked(self.hosts, self.path)
        domain = document.host
        while domain:
            if domain in blocked:
                return Drop("blocked host")
            _, _, domain = domain.partition(".")
        return document


@cache
def _blocked(hosts: tuple[str, ...], path: str | None) -> frozenset[str]:
    return frozenset(map(_normalize, hosts)) | (_read_hosts(path) if path else frozenset())


def _read_hosts(path: str) -> frozenset[str]:
    hosts = frozenset(_normalize(line) for line in read_lines(path) if not line.lstrip().startswith("#")) - {""}
    if not hosts:
        raise BitcipherError(f"{path} contains no hosts: write one host per line.")
    return hosts


def _normalize(host: str) -> str:
    return host.strip().lower().strip(".")
