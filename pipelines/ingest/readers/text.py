"""Reader for plain text: each line, or the whole file, is a document."""

import codecs
import re
from collections.abc import Iterator
from typing import IO

from bitcipher.errors import BitcipherError
from pipelines.ingest.raw_documents import BadRecord, RawDocument, ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import iter_lines, translating_damage
from pipelines.ingest.readers.text_encoding import open_text
from pipelines.ingest.sources import Source

# Number of bytes decoded at a time if the whole file is one document.
READ_BYTES = 1 << 20

_WHITE_SPACE = re.compile(r"\s")


def read(source: Source, options: ReadOptions) -> Iterator[ReadRecord]:
    """Yield the lines of a file without their endings, or the whole file.

    A line ends with LF or CRLF only, because other separators, such as U+2028, occur inside documents. Bytes that are
    not valid in the encoding of the source become U+FFFD.
    """
    with open_text(source, options) as (stream, encoding):
        yield from encoding.decisions("file")
        if options.document == "file":
            yield RawDocument(_decoded(stream, source, options.max_record_bytes), 1)
            return
        for number, line in iter_lines(stream, source, options.max_record_bytes):
            if isinstance(line, BadRecord):
                yield line
            else:
                text = line.removesuffix(b"\n").removesuffix(b"\r").decode(errors="replace")
                yield RawDocument((text,), number)


def _decoded(stream: IO[bytes], source: Source, limit: int) -> Iterator[str]:
    """Yield the text of a file. Text without white space cannot be split, so it must not have more than `limit` bytes.

    A word is measured in whole blocks of `READ_BYTES`.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    unbroken = 0
    # The caller iterates, so an error would not pass through `open_text`.
    with translating_damage(source.uri):
        while data := stream.read(READ_BYTES):
            text = decoder.decode(data)
            unbroken = 0 if _WHITE_SPACE.search(text) else unbroken + len(data)
            if unbroken > limit:
                raise BitcipherError(
                    f"{source.uri} has more than {limit >> 20} MiB of text without white space: remove it from the "
                    "sources, or raise `max_record_mib`."
                )
            yield text
        yield decoder.decode(b"", final=True)
