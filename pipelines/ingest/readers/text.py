"""Plain text in UTF-8: a document a line, or a document a file."""

import codecs
from collections.abc import Iterable, Iterator
from typing import IO

from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.readers.byte_streams import opened
from pipelines.ingest.sources import Source

# Bytes of a file that are decoded at a time, where the whole file is one document.
READ_BYTES = 1 << 20


def read(source: Source, options: ReadOptions) -> Iterator[Iterable[str]]:
    """The lines of a file without their endings, or the file as a whole.

    A line ends with a line feed, or a carriage return and a line feed, and with nothing else: U+2028 and its
    like occur inside documents. Bytes that are not UTF-8 become U+FFFD.
    """
    with opened(source) as stream:
        if options.document == "file":
            yield _decoded(stream)
            return
        for line in stream:
            yield (line.removesuffix(b"\n").removesuffix(b"\r").decode(errors="replace"),)


def _decoded(stream: IO[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while data := stream.read(READ_BYTES):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)
