"""The folder of a build.

    versions/000002.json            the manifest of version 2: that it is there publishes the version
    versions/000002-1f3a9c04/       what the version is made of, under a name of its own:
        words.parquet               the vocabulary in order of rank
        vectors/                    the vectors of the build's own options
        report.json                 what each stage took: the only file that differs between equal builds
    shards/                         words and pairs of each shard, independent of any vocabulary
    segments/                       shards that were merged, in the same form
    ledger/                         what a job that is not finished has done
    lease/                          who is at work
    work/                           what is needed for a moment

Files below `shards`, `segments` and `versions` never change. A version is published by creating its manifest, which
fails if another job was first; so there is always a newest version, whole, whatever died on the way.
"""

from typing import Any

from bitcipher import storage, versions
from bitcipher.errors import BitcipherError

FORMAT = "bitcipher-build/2"
SHARDS = "shards"
SEGMENTS = "segments"
LEDGER = "ledger"
WORK = "work"

REPORT = "report.json"
WORDS = "words.parquet"


def read_manifest(build: str, version: int | None = None) -> dict[str, Any]:
    """The manifest of a version; the newest if not given.

    Raises:
        BitcipherError: if the folder is no build, has no such version, or one of another bitcipher.
    """
    manifest = versions.read_version(build, version)
    name = manifest.get("format")
    if name != FORMAT:
        raise BitcipherError(
            f"{build} is not a build that this bitcipher reads: its format is {name!r}, not {FORMAT!r}."
        )
    return manifest


def version_file(build: str, manifest: dict[str, Any], name: str) -> str:
    """Where a file or folder of a version lies."""
    return storage.join(build, manifest["folder"], name)
