"""The versions of a build: which are published, and where their vectors lie.

A build's folder holds versions/000001.json, versions/000002.json, …: the manifests of its versions. A manifest names
the folder of its version, so there is always a newest version, whole, while the next one is being made.
"""

import re
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError

VERSIONS = "versions"
VECTORS = "vectors"

_MANIFEST = re.compile(r"(\d{6})\.json")


def versions(build: str) -> list[int]:
    """The numbers of the versions that are published, ascending; none if the folder is no build."""
    names = storage.list_files(storage.join(build, VERSIONS))
    return sorted(int(match[1]) for name in names if (match := _MANIFEST.fullmatch(name)))


def manifest_uri(build: str, version: int) -> str:
    """Where the manifest of a version lies."""
    return storage.join(build, VERSIONS, f"{version:06d}.json")


def read_version(build: str, version: int | None = None) -> dict[str, Any]:
    """The manifest of a version.

    Args:
        build: the folder of the build.
        version: its number; the newest if not given.

    Raises:
        BitcipherError: if the folder is no build, or has no such version.
    """
    published = versions(build)
    if not published:
        raise BitcipherError(f"{build} is not a build: it holds no {VERSIONS}; make one with `bitcipher build`.")
    if version is None:
        version = published[-1]
    if version not in published:
        there = ", ".join(map(str, published))
        raise BitcipherError(f"{build} has no version {version}: there are {there}; others were pruned, or never made.")
    return storage.read_json(manifest_uri(build, version))


def vectors_of(uri: str, version: int | None = None) -> str:
    """The folder of vectors that is meant: that of a version if the URI is a build, else the URI itself."""
    if version is None and not versions(uri):
        return uri
    return storage.join(uri, read_version(uri, version)["folder"], VECTORS)
