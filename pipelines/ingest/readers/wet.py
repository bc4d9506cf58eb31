"""WET, the plain text that CommonCrawl extracts from its pages: a document a record of type `conversion`.

fastwarc takes a file that ends early, and a false Content-Length, without a word (SPEC section 4). So it is
given the decompressed stream, whose end is checked elsewhere, and every record's length is checked here, that
of other types too: a false length there would swallow the documents behind it.
"""

import re
from collections.abc import Iterable, Iterator

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from bitcipher.errors import BitcipherError
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.readers.byte_streams import opened
from pipelines.ingest.sources import Source

# A record's end and the next one's first line. The text of a page does not look so: its lines end in bare \n.
NEXT_RECORD = re.compile(rb"\r\n\r\nWARC/\d+\.\d+\r\n")


def read(source: Source, options: ReadOptions) -> Iterator[Iterable[str]]:
    """The texts of the `conversion` records; bytes that are not UTF-8 become U+FFFD.

    Raises:
        BitcipherError: if a record's length is missing, false, or more than the file holds.
    """
    with opened(source) as stream:
        # Without detection fastwarc cannot decompress by itself, past the checks that `opened` makes.
        records = ArchiveIterator(stream, parse_http=False, stream_detect=False)
        for number, record in enumerate(records, start=1):
            body = _checked_body(record, f"Record {number} of {source.uri}")
            if record.record_type == WarcRecordType.conversion:
                yield (body.decode(errors="replace"),)


def _checked_body(record: WarcRecord, where: str) -> bytes:
    length = record.headers.get("Content-Length", "")
    if not re.fullmatch("[0-9]{1,18}", length):
        raise BitcipherError(f"{where} has no valid Content-Length: the file is cut short or damaged. Fetch it again.")
    body = record.reader.read()
    if len(body) != int(length):
        raise BitcipherError(
            f"{where} has {len(body)} bytes, not {length} as its header says: the file is cut short. Fetch it again."
        )
    if NEXT_RECORD.search(body):
        raise BitcipherError(
            f"{where} has a false Content-Length, {length}, that takes in the record behind it. Fetch the file again."
        )
    return body
