"""Lines of plain text as Arrow arrays.

A file of short lines has millions of documents. Read as strings, one at a time, lines of 210 bytes cost 30 ms of CPU
time per MB, and as arrays 4 ms (AMD EPYC). The documents are the same.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bitcipher.kernel_cache import kernel
from pipelines.ingest.document_chunks import CHUNK_CHARACTERS
from pipelines.ingest.raw_documents import BadRecord, LineBatch, RawDocument, ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import iter_line_blocks
from pipelines.ingest.readers.text_encoding import open_text
from pipelines.ingest.sources import Source

_LINE_FEED = np.uint8(ord("\n"))
_RETURN = np.uint8(ord("\r"))

# Kinds of bytes: ASCII white space, bytes that begin another character than white space, and those that may begin
# white space or are inside of a character.
_SPACE, _TEXT, _UNCLEAR = 0, 1, 2
_KINDS = np.full(256, _TEXT, np.uint8)
_KINDS[[code for code in range(128) if chr(code).isspace()]] = _SPACE
_KINDS[128:192] = _UNCLEAR
_KINDS[[chr(code).encode()[0] for code in range(128, 1 << 16) if chr(code).isspace()]] = _UNCLEAR

_REPLACEMENT = "\ufffd".encode()


def read_lines(source: Source, options: ReadOptions) -> Iterator[LineBatch | ReadRecord]:
    """Yield the records of `pipelines.ingest.readers.text.read`, with `document` line; most documents in batches."""
    with open_text(source, options) as (stream, encoding):
        yield from encoding.decisions("file")
        for number, block in iter_line_blocks(stream, source, options.max_record_bytes):
            if isinstance(block, BadRecord):
                yield block
            else:
                yield from _split_block(block, number)


def _split_block(block: bytes, number: int) -> Iterator[LineBatch | RawDocument]:
    """Yield the documents of the lines of a block, which begins with the line of a number."""
    content = _as_utf8(block)
    text = np.frombuffer(content, np.uint8)
    line_ends = np.flatnonzero(text == _LINE_FEED)
    if text[-1] != _LINE_FEED:
        line_ends = np.append(line_ends, len(text))
    start = first = 0
    # A longer line is a document that may have several chunks.
    for line in np.flatnonzero(np.diff(line_ends, prepend=-1) > CHUNK_CHARACTERS).tolist():
        before = int(line_ends[line - 1]) + 1 if line else 0
        if first < line:
            yield _make_batch(text[start:before], line_ends[first:line] - start)
        end = int(line_ends[line])
        yield RawDocument((content[before:end].removesuffix(b"\r").decode(),), number + line)
        start, first = end + 1, line + 1
    if first < len(line_ends):
        yield _make_batch(text[start:], line_ends[first:] - start)


def _make_batch(text: np.ndarray, line_ends: np.ndarray) -> LineBatch:
    """Return the documents of lines of valid text, (bytes,) uint8, without a line that can have several chunks."""
    joined, offsets = np.empty(len(text), np.uint8), np.zeros(len(line_ends) + 1, np.int64)
    kinds = np.empty(len(line_ends), np.uint8)
    size = _join_lines(text, line_ends, _KINDS, joined, offsets[1:], kinds)
    texts = pa.LargeStringArray.from_buffers(len(line_ends), pa.py_buffer(offsets), pa.py_buffer(joined[:size]))
    has_text = kinds == _TEXT
    for line in np.flatnonzero(kinds == _UNCLEAR):
        has_text[line] = not texts[line].as_py().isspace()
    if not has_text.all():
        texts = texts.filter(pa.array(has_text))
    # The search for one byte is several times as fast as that for three.
    replacements = text.tobytes().count(_REPLACEMENT) if (text == _REPLACEMENT[0]).any() else 0
    return LineBatch(texts, len(line_ends), replacements)


def _as_utf8(block: bytes) -> bytes:
    """Return a block of whole lines with U+FFFD in place of bytes that are not valid."""
    offsets = pa.py_buffer(np.array([0, len(block)]))
    try:
        pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(block)).validate(full=True)
    except pa.ArrowInvalid:
        return block.decode(errors="replace").encode()
    return block


@kernel
def _join_lines(text, line_ends, kind_of_byte, joined, ends, kinds):
    """Copy lines without their endings, and return the number of copied bytes.

    Args:
        text: (bytes,) uint8, the lines.
        line_ends: (lines,) int64, position of the line feed of each line; of the last line, perhaps the end of `text`.
        kind_of_byte: (256,) uint8.
        joined: (bytes,) uint8, output: the lines.
        ends: (lines,) int64, output: end of each line in `joined`.
        kinds: (lines,) uint8, output: whether each line has text, is white space, or may be either.
    """
    n = 0
    start = 0
    for line in range(len(line_ends)):
        stop = line_ends[line]
        end = stop - 1 if stop > start and text[stop - 1] == _RETURN else stop
        kind = np.uint8(_SPACE)
        for at in range(start, end):
            if kind_of_byte[text[at]] != _SPACE:
                kind = kind_of_byte[text[at]]
            if kind == _TEXT:
                break
        kinds[line] = kind
        joined[n : n + end - start] = text[start:end]
        n += end - start
        ends[line] = n
        start = stop + 1
    return n
