"""Published versions of a build.

A build holds versions/000001.json, versions/000002.json, …: the manifests of its versions. A manifest names the folder
with the files of its version, and the folder with its vectors: a version that was published with `--vectors later` has
the vectors of an earlier version. A version is published by writing its manifest after its other files.
"""

import re
from typing import TYPE_CHECKING

from bitcipher.errors import BitcipherError
from bitcipher.files import storage

if TYPE_CHECKING:
    from bitcipher.version_manifest import VersionManifest

VERSIONS = "versions"
VECTORS = "vectors"
WORDS = "words.parquet"  # the vocabulary, in order of rank

_MANIFEST = re.compile(r"(\d{6})\.json")


def versions(build: str) -> list[int]:
    """Return the numbers of the published versions, ascending; empty if the folder is not a build.

    Raises:
        BitcipherError: if the folder cannot be listed.
    """
    if storage.is_web_address(build):
        raise BitcipherError(
            f"{build} cannot be opened, because web servers do not list the files of a folder: copy the folder first."
        )
    if storage.is_local_file(build):
        raise BitcipherError(
            f"{build} is a file, not the folder of a build. Vectors of other tools are read by `bitcipher neighbors`, "
            "`bitcipher evaluate`, `bitcipher export` and `CipherVectors.load`."
        )
    names = storage.list_files(storage.join(build, VERSIONS))
    return sorted(int(match[1]) for name in names if (match := _MANIFEST.fullmatch(name)))


def manifest_uri(build: str, version: int) -> str:
    """Return the URI of a version's manifest."""
    return storage.join(build, VERSIONS, f"{version:06d}.json")


def find_version(build: str, version: int | None = None) -> int:
    """Return the number of a published version.

    Args:
        build: folder of the build.
        version: number of the version, by default the newest.

    Raises:
        BitcipherError: if the folder is not a build, or has no such version.
    """
    published = versions(build)
    if not published:
        if not storage.exists(build):
            raise BitcipherError(f"There is no build {build}: make one with `bitcipher build`.")
        raise BitcipherError(f"{build} is not a build: it has no {VERSIONS}. Make one with `bitcipher build`.")
    if version is None:
        return published[-1]
    if version not in published:
        numbers = ", ".join(map(str, published))
        raise BitcipherError(
            f"{build} has no version {version!r}. Its versions are {numbers}. `bitcipher prune` removes older versions."
        )
    return version


def read_version(build: str, version: int | None = None) -> "VersionManifest":
    """Return the manifest of a version.

    Args:
        build: folder of the build.
        version: number of the version, by default the newest.

    Raises:
        BitcipherError: if the folder is not a build or has no such version, or if the manifest is damaged.
    """
    from bitcipher.version_manifest import VersionManifest  # pydantic, which `import bitcipher` does not need

    return VersionManifest.read(manifest_uri(build, find_version(build, version)))


def vectors_of(uri: str, version: int | None = None) -> str:
    """Return the folder of the vectors of a build's version, by default the newest.

    If the URI is not a build and no version is given, return the URI itself. The vectors of a version that was
    published with `--vectors later` are those of the newest earlier version that made vectors.

    Raises:
        BitcipherError: if there is no such version, its manifest is damaged, or no version has made vectors yet.
    """
    if version is None and not versions(uri):
        return uri
    return read_version(uri, version).vectors_folder(uri)
