"""Content hashes of sources: the SHA-256 of the stored bytes, independent of the name of the file."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.ingest.block_hashes import BLOCK_BYTES, hash_block
from pipelines.ingest.hf_datasets import hash_split, is_dataset
from pipelines.ingest.source_groups import estimate_text_bytes
from pipelines.ingest.sources import Source
from pipelines.runtime.runtime import Runtime, StageSpec
from pipelines.runtime.stopping import end_if_stopped

# Files are grouped into inputs of about this number of bytes, about one second of work.
INPUT_BYTES = 1 << 30
# A file counts as at least this number of bytes, because a request to a store takes as long as reading them. Otherwise
# one worker would open all files of a corpus of small files.
FILE_BYTES = 1 << 20


class ContentHash(NamedTuple):
    """Hashes of a source, and the number of bytes that were read."""

    sha256: str
    size: int | None
    """Stored bytes, or None for a dataset, which is identified by the list of its files."""
    block_hashes: bytes
    """Concatenated hashes of the blocks (see `block_hashes`)."""


class ContentHashStage:
    """Stage that hashes files."""

    def __call__(self, uris: tuple[str, ...]) -> Iterator[dict[str, ContentHash]]:
        """Yield the hashes of each file, by URI."""
        yield {uri: hash_content(uri) for uri in uris}


def hash_sources(sources: Sequence[Source], known: Sequence[Source], runtime: Runtime) -> list[Source]:
    """Return the sources with their content hashes.

    Args:
        sources: the listed sources.
        known: sources with hashes. A listed file with the same URI, size and stamp as a known source is not read again.
            It keeps the block hashes of that source, if there are any.
        runtime: runtime of the stage that reads the remaining files.

    Raises:
        BitcipherError: if a file has another size than when it was listed, or if the hash of a document shard differs
            from that of its manifest.
    """
    found = {_identity(source): source for source in known if source.stamp}
    to_read = [source for source in sources if _identity(source) not in found]
    hashed = {source.uri: source for source in _hash(to_read, runtime)}
    return [hashed.get(source.uri) or _with_known_hash(source, found[_identity(source)]) for source in sources]


def add_block_hashes(sources: Sequence[Source], runtime: Runtime) -> list[Source]:
    """Return the sources with hashes of their blocks, and read those without.

    Call it for sources that are read again, such as those of tasks with removed sources, whose content hash is known.

    Raises:
        BitcipherError: if the content of a file differs from its content hash.
    """
    to_read = {source.uri: source for source in sources if not (source.block_hashes or is_dataset(source.read_uri))}
    hashed = {source.uri: source for source in _hash(list(to_read.values()), runtime)}
    return [hashed.get(source.uri, source) for source in sources]


def _hash(sources: Sequence[Source], runtime: Runtime) -> Iterator[Source]:
    """Yield the sources with the hashes of their content."""
    runtime.expect_text(sum(map(estimate_text_bytes, sources)))  # they are read again by later stages
    groups: list[list[str]] = []
    room = 0
    for source in sources:
        if room <= 0:
            groups.append([])
            room = INPUT_BYTES
        groups[-1].append(source.read_uri)
        room -= max(source.size, FILE_BYTES)
    found: dict[str, ContentHash] = {}
    spec = StageSpec("identify", ContentHashStage, {}, in_parallel=True)
    for result in runtime.stream(spec, [tuple(group) for group in groups]):
        found.update(result.value)
    for source in sources:
        content = found[source.read_uri]
        if content.size not in (None, source.size):
            raise BitcipherError(
                f"{source.uri} has {content.size:,} bytes, but {source.size:,} when it was listed: when it is "
                "complete, run this again. If its server reports a wrong size, download the file, and give the path "
                "of the copy."
            )
        yield _with_hash(source, content.sha256, content.block_hashes)


def hash_content(uri: str) -> ContentHash:
    """Return the hashes of a file or of a split of a dataset (see `hash_split`)."""
    if is_dataset(uri):
        return ContentHash(hash_split(uri, sha256), None, b"")
    digest, size, blocks = hashlib.sha256(), 0, []
    with storage.reading(uri) as stream:
        while block := stream.read(BLOCK_BYTES):
            end_if_stopped()
            digest.update(block)
            blocks.append(hash_block(block))
            size += len(block)
    return ContentHash(digest.hexdigest(), size, b"".join(blocks))


def sha256(uri: str) -> str:
    """Return the SHA-256 of a file in hexadecimal. For a split of a dataset, see `hash_split`."""
    return hash_content(uri).sha256


def _with_known_hash(source: Source, known: Source) -> Source:
    return _with_hash(source, known.sha256, known.block_hashes)


def _with_hash(source: Source, content_hash: str, block_hashes: bytes = b"") -> Source:
    if source.sha256 not in ("", content_hash):
        raise BitcipherError(
            f"{source.uri} is damaged: its content differs from the recorded SHA-256. Restore it from a copy."
        )
    return source.with_hashes(content_hash, block_hashes)


def _identity(source: Source) -> tuple[str, int, str]:
    return source.uri, source.size, source.stamp
