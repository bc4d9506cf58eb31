"""What a file is: the SHA-256 of its bytes as they are stored, whatever its name."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bitcipher import storage
from pipelines.ingest.sources import Source
from pipelines.runtime.runtime import Row, Runtime, StageSpec

READ_BYTES = 1 << 22

# Bytes that a worker reads in one go: a second or so, and few rows for many small files.
ROW_BYTES = 1 << 30


class ContentHashStage:
    """Reads files and tells their digests."""

    def __call__(self, row: Row) -> Iterator[Row]:
        """From URIs to the digest of each."""
        yield {"sha256": {uri: sha256(uri) for uri in row["uris"]}}


def hash_sources(sources: Sequence[Source], known: Sequence[Source], runtime: Runtime) -> list[Source]:
    """The same sources with their digests.

    Args:
        sources: the listing.
        known: sources of which the digest is known; one with the same URI, size and stamp is not read again.
        runtime: where the others are read.
    """
    digests = {_entry(source): source.sha256 for source in known if source.stamp}
    unknown = [source for source in sources if _entry(source) not in digests]
    rows: list[Row] = []
    room = 0
    for source in unknown:
        if room <= 0:
            rows.append({"uris": []})
            room = ROW_BYTES
        rows[-1]["uris"].append(source.uri)
        room -= source.size
    found: dict[str, str] = {}
    for result in runtime.stream(StageSpec("identify", ContentHashStage, {}), rows):
        found.update(result["sha256"])
    return [replace(source, sha256=digests.get(_entry(source)) or found[source.uri]) for source in sources]


def _entry(source: Source) -> tuple[str, int, str]:
    return source.uri, source.size, source.stamp


def sha256(uri: str) -> str:
    """The digest of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with storage.reading(uri) as stream:
        while data := stream.read(READ_BYTES):
            digest.update(data)
    return digest.hexdigest()
