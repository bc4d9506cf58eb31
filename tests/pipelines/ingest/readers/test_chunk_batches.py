"""Batches of chunks have the chunks, and lead to the same quarantine, as documents that are read one at a time."""

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.ingest import chunk_batches, document_chunks
from pipelines.ingest.chunk_batches import BatchJoiner, batch_chunks, read_batches
from pipelines.ingest.document_chunks import DocumentChunk
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.raw_documents import BadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers import byte_streams, line_batches, read_chunks
from pipelines.ingest.sources import Source

# White space of one to three bytes, characters with the same first bytes, incomplete and invalid characters, and ends
# of lines.
PIECES = [
    *(b"\n", b"\r", b"\r\n", b" ", b"\t", b"\x1c", b"a", b"word word"),
    *map(str.encode, "\x85 \xa0 ¡ é \u1680 \u1681 \u2003 “ \u3000 。 你 😀 \ufffd".split(" ")),
    *(b"\xc2", b"\xe2\x80", b"\xe3", b"\xf0\x9f\x98", b"\x80", b"\xff", b"\xed\xa0\x80", b"\xe0\x80", b"\xc0\x80"),
]
contents = st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join)


def chunks_of(batches):
    return [
        DocumentChunk(text, bool(continues))
        for batch in batches
        for text, continues in zip(batch.texts.to_pylist(), batch.continues, strict=True)
    ]


def check(source, options):
    """Compare both ways to read a source, and return the chunks and the quarantine."""
    quarantines = [Quarantine(source.uri, 1.0) for _ in range(2)]
    chunks = chunks_of(read_batches(source, options, quarantines[0]))
    assert chunks == list(read_chunks(source, options, quarantines[1]))
    for quarantine in quarantines:
        assert quarantine.read == quarantine.documents + quarantine.bad
    first, second = (vars(quarantine) for quarantine in quarantines)
    assert first == second
    return chunks, quarantines[0]


@given(contents, st.sampled_from([None, "utf-8", "latin-1"]))
@example(b"", None)
@example(b"\xef\xbb\xbf\r\nx\r", "utf-8")
@settings(max_examples=300, deadline=None)
def test_lines_of_any_bytes(stored, content, encoding):
    check(stored("a.txt", content), ReadOptions(encoding=encoding, format="text"))


@given(contents, st.integers(1, 12), st.integers(12, 30))
@settings(max_examples=300, deadline=None)
def test_lines_of_any_length(stored, content, read_bytes, limit):
    content = content.replace(b"\r", b"")  # `bytes.splitlines` splits there, too
    source = Source(uri="a.txt", size=len(content), format="text")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_streams, "BUFFER_BYTES", read_bytes)
        streams: list[Any] = [io.BufferedReader(io.BytesIO(content)) for _ in range(2)]
        lines = list(byte_streams.iter_lines(streams[0], source, limit))
        blocks = list(byte_streams.iter_line_blocks(streams[1], source, limit))
    found = []
    for number, block in blocks:
        parts = [block] if isinstance(block, BadRecord) else block.splitlines(keepends=True)
        found += [(number + at, part) for at, part in enumerate(parts)]
    # Excerpts can be longer than the limit of this test.
    assert [_without_excerpt(*each) for each in found] == [_without_excerpt(*each) for each in lines]


def _without_excerpt(number, line):
    return number, line._replace(excerpt="") if isinstance(line, BadRecord) else line


def test_lines_above_the_limit_are_bad(stored):
    lines = [b"one", b"x" * (1 << 20), b"two", b"y" * (3 << 20), b"three", b"z" * ((1 << 20) - 1), b"w" * (2 << 20)]
    for end in (b"", b"\n"):
        chunks, quarantine = check(stored("a.txt", b"\n".join(lines) + end), ReadOptions(max_record_mib=1))
        assert [chunk.text[:5] for chunk in chunks] == ["one", "two", "three", "zzzzz"]
        assert [record.offset for record in quarantine.kept] == [2, 4, 7]


def test_long_lines_have_several_chunks(stored, monkeypatch):
    monkeypatch.setattr(document_chunks, "CHUNK_CHARACTERS", 50)
    monkeypatch.setattr(line_batches, "CHUNK_CHARACTERS", 50)
    monkeypatch.setattr(document_chunks.split_document, "__defaults__", (50,))
    content = "\n".join(["short", "wörter " * 40, "", " " * 80, "é" * 49, "last " * 11])
    chunks, _ = check(stored("a.txt", content.encode()), ReadOptions())
    assert sum(chunk.continues for chunk in chunks) > 4


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_truncated_file_raises_the_same_error(stored, compress, ending):
    content = compress(ending, b"".join(b"line %d\n" % number for number in range(200_000)))
    source = stored(f"a.txt{ending}", content[: len(content) // 2])
    with pytest.raises(BitcipherError) as by_lines:
        list(read_chunks(source, ReadOptions()))
    with pytest.raises(BitcipherError) as by_batches:
        list(read_batches(source, ReadOptions()))
    assert str(by_batches.value) == str(by_lines.value)


def test_other_formats_are_grouped(stored, monkeypatch):
    monkeypatch.setattr(chunk_batches, "BATCH_CHARACTERS", 8)
    source = stored("a.jsonl", b'{"text": "one"}\n{"text": " "}\n{"text": "three"}\n[]\n{"text": "four"}\n')
    check(source, ReadOptions())
    quarantine = Quarantine(source.uri, 1.0)
    assert [len(batch.texts) for batch in read_batches(source, ReadOptions(), quarantine)] == [2, 1]


def test_slices_of_a_batch():
    (batch,) = batch_chunks([DocumentChunk("é", True), DocumentChunk("", False), DocumentChunk("abc", False)])
    assert batch.ends.tolist() == [2, 2, 5]
    part = batch.slice(1).slice(0, 2)
    assert part.ends.tolist() == [0, 3]
    assert part.texts == pa.array(["", "abc"], pa.large_string())
    assert np.array_equal(part.continues, [False, False])


@pytest.mark.parametrize("capacity", [0, 1, 100])
def test_joined_batches_have_the_chunks_of_all(capacity):
    chunks = [DocumentChunk(text, at % 3 == 0) for at, text in enumerate(["é", "", "abc", "", "", "wörter", "z"])]
    (batch,) = batch_chunks(chunks)
    joiner = BatchJoiner(capacity)
    assert not joiner
    for part in (batch.slice(0, 2), batch.slice(2, 5), batch.slice(5)):
        joiner.add(part)
    assert joiner
    assert joiner.size == len("éabcwörterz".encode())
    assert chunks_of([joiner.join()]) == chunks
