"""Content hashes of sources: the SHA-256 of the stored bytes, independent of the name of the file."""

import hashlib
from collections.abc import Iterator, Sequence

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.ingest.hf_datasets import hash_split, is_dataset
from pipelines.ingest.sources import Source
from pipelines.runtime.runtime import Runtime, StageSpec

# Number of bytes read at a time.
READ_BYTES = 1 << 22

# Files are grouped into inputs of about this number of bytes, about one second of work.
INPUT_BYTES = 1 << 30


class ContentHashStage:
    """Stage that hashes files."""

    def __call__(self, uris: tuple[str, ...]) -> Iterator[dict[str, str]]:
        """Yield the SHA-256 of each file, by URI."""
        yield {uri: sha256(uri) for uri in uris}


def hash_sources(sources: Sequence[Source], known: Sequence[Source], runtime: Runtime) -> list[Source]:
    """Return the sources with their content hashes.

    Args:
        sources: the listed sources.
        known: sources with hashes. A listed file with the same URI, size and stamp as a known source is not read again.
        runtime: runtime of the stage that reads the remaining files.

    Raises:
        BitcipherError: if the hash of a document shard differs from that of its manifest.
    """
    hashes = {_identity(source): source.sha256 for source in known if source.stamp}
    groups: list[list[str]] = []
    room = 0
    for source in sources:
        if _identity(source) not in hashes:
            if room <= 0:
                groups.append([])
                room = INPUT_BYTES
            groups[-1].append(source.read_uri)
            room -= source.size
    new_hashes: dict[str, str] = {}
    for result in runtime.stream(StageSpec("identify", ContentHashStage, {}), [tuple(group) for group in groups]):
        new_hashes.update(result.value)
    return [_with_hash(source, hashes.get(_identity(source)) or new_hashes[source.read_uri]) for source in sources]


def sha256(uri: str) -> str:
    """Return the SHA-256 of a file in hexadecimal. For a split of a dataset, see `hash_split`."""
    if is_dataset(uri):
        return hash_split(uri, sha256)
    digest = hashlib.sha256()
    with storage.reading(uri) as stream:
        while data := stream.read(READ_BYTES):
            digest.update(data)
    return digest.hexdigest()


def _with_hash(source: Source, content_hash: str) -> Source:
    if source.sha256 not in ("", content_hash):
        raise BitcipherError(f"{source.uri} is damaged: its content differs from the manifest. Restore it from a copy.")
    return source.model_copy(update={"sha256": content_hash})


def _identity(source: Source) -> tuple[str, int, str]:
    return source.uri, source.size, source.stamp
