"""Whole documents of a source, for code that needs all text of a document in memory."""

from collections.abc import Iterator, Sequence

from bitcipher.errors import BitcipherError
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.raw_documents import RawDocument
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers import read_source
from pipelines.ingest.sources import Source
from pipelines.runtime.progress import StageProgress


def read_documents(source: Source, options: ReadOptions, quarantine: Quarantine | None = None) -> Iterator[str]:
    """Yield the documents of a source that are not empty, in order.

    Arguments and errors are those of `read_whole_records`.
    """
    for _, text in read_whole_records(source, options, quarantine):
        if text and not text.isspace():
            yield text


def read_all_documents(
    sources: Sequence[Source], options: ReadOptions, name: str, progress: StageProgress
) -> Iterator[str]:
    """Yield the documents of sources as `read_documents` does, with a bar of the given name.

    The bar is filled even if the caller does not take all documents.
    """
    bar = progress.begin(name, sum(source.size for source in sources))
    try:
        for number, source in enumerate(sources, 1):
            yield from read_documents(source, options)
            progress.advance(bar, source.size, f"{number:,} of {len(sources):,} sources")
    finally:
        progress.end(bar)


def read_whole_records(
    source: Source, options: ReadOptions, quarantine: Quarantine | None = None
) -> Iterator[tuple[RawDocument, str]]:
    """Yield the documents of a source in order, those without text included, each with its whole text.

    Arguments are those of `pipelines.ingest.readers.read_source`.

    Raises:
        BitcipherError: as `read_source`, or if a file that is one document has more characters than the bytes that
            `max_record_mib` allows.
    """
    for document in read_source(source, options, quarantine):
        yield document, _join(document, source, options)


def _join(document: RawDocument, source: Source, options: ReadOptions) -> str:
    parts: list[str] = []
    size = 0
    for string in document.strings:
        size += len(string)
        if size > options.max_record_bytes:
            raise BitcipherError(
                f"{source.uri} is one document of more than {options.max_record_mib} Mi characters: raise "
                "`max_record_mib`, or set `document` to line."
            )
        parts.append(string)
    return "".join(parts)
