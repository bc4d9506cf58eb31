"""Whole documents of a source, for code that needs all text of a document in memory."""

from collections.abc import Iterator

from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers import read_chunks
from pipelines.ingest.sources import Source


def read_documents(source: Source, options: ReadOptions, quarantine: Quarantine | None = None) -> Iterator[str]:
    """Yield the documents of a source that are not empty, in order.

    Arguments and errors are those of `pipelines.ingest.readers.read_source`.
    """
    texts: list[str] = []
    for chunk in read_chunks(source, options, quarantine):
        texts.append(chunk.text)
        if not chunk.continues:
            yield "".join(texts)
            texts = []
