"""Groups of sources that have about the same amount of text: the units of work of a stage."""

from collections.abc import Sequence

from pipelines.ingest.sources import Source, compression_of

# Bytes of text per stored byte of a compressed file or of Parquet: gzip compresses English about 2.7 times.
TEXT_PER_COMPRESSED_BYTE = 3


def group_sources(sources: Sequence[Source], text_bytes: int) -> list[tuple[Source, ...]]:
    """Return groups of consecutive sources.

    Sources share a group until their text reaches `text_bytes`, estimated by file size. A source with at least
    `text_bytes` of text is a group of its own.
    """
    groups: list[list[Source]] = []
    room = 0
    for source in sources:
        size = estimate_text_bytes(source)
        if room <= 0 or size >= text_bytes:
            groups.append([])
            room = text_bytes
        groups[-1].append(source)
        room -= size
    return [tuple(group) for group in groups]


def estimate_text_bytes(source: Source) -> int:
    """Return the estimated number of bytes of text in a source, from its file size."""
    is_compressed = source.format in ("parquet", "hf") or compression_of(source.uri) != ""
    return source.size * (TEXT_PER_COMPRESSED_BYTE if is_compressed else 1)
