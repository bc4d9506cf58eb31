import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.ingest.readers import ReadOptions, read_chunks

OPTIONS = ReadOptions()
texts = st.lists(st.text(st.characters(exclude_categories=["Cs"])))


def record(kind, body, length=None):
    """Return a record in the format of CommonCrawl's WET files, with the true length by default."""
    header = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://example.org/\r\n"
        f"Content-Type: text/plain\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    return header.encode() + body + b"\r\n\r\n"


INFO = record("warcinfo", b"Software-Info: a test")


def read(source):
    return [chunk.text for chunk in read_chunks(source, OPTIONS)]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@given(texts=texts)
def test_reader_returns_the_written_documents(stored, compress, ending, texts):
    records = [INFO, *(record("conversion", text.encode()) for text in texts)]
    content = b"".join(compress(ending, each) for each in records)  # one gzip member per record, as in CommonCrawl
    assert read(stored(f"a.warc.wet{ending}", content)) == [text for text in texts if text.strip()]


def test_only_conversion_records_are_documents(stored):
    kinds = ["warcinfo", "conversion", "response", "metadata", "request", "resource", "conversion"]
    content = b"".join(record(kind, f"{kind} {number}".encode()) for number, kind in enumerate(kinds))
    assert read(stored("a.wet", content)) == ["conversion 1", "conversion 6"]


def test_bytes_that_are_not_utf8_are_replaced(stored):
    assert read(stored("a.wet", record("conversion", b"caf\xe9"))) == ["caf\ufffd"]


def test_page_that_quotes_a_record_header_is_one_document(stored):
    page = "A record begins so:\n\nWARC/1.0\nWARC-Type: conversion\n"
    assert read(stored("a.wet", record("conversion", page.encode()))) == [page]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_file_truncated_inside_a_record_raises_or_loses_nothing(stored, compress, ending):
    records = [INFO, record("conversion", b"one"), record("conversion", b"two")]
    members = [compress(ending, content) for content in records]
    whole = b"".join(members)
    ends = {len(members[0]): [], len(members[0] + members[1]): ["one"], len(whole): ["one", "two"]}
    for length in range(1, len(whole) + 1):
        source = stored(f"cut.wet{ending}", whole[:length])
        if length in ends:
            assert read(source) == ends[length]
        elif not ending and whole[:length].rstrip(b"\r\n") in {whole[:end].rstrip(b"\r\n") for end in ends}:
            assert read(source) in ends.values()  # only the empty lines that follow a record are missing
        else:
            with pytest.raises(BitcipherError, match=r"cut\.wet"):
                read(source)


@pytest.mark.parametrize("kind", ["warcinfo", "conversion"])
def test_wrong_length_raises_or_loses_nothing(stored, kind):
    following = [record("conversion", text) for text in (b"the second", b"the third")]
    true = ["the first"] * (kind == "conversion") + ["the second", "the third"]
    for length in range(700):
        source = stored("false.wet", b"".join([record(kind, b"the first", length), *following]))
        if length == len(b"the first"):
            assert read(source) == true
            continue
        # A length that also covers the empty lines after the record adds no other text.
        with contextlib.suppress(BitcipherError):
            assert [text.strip() for text in read(source)] == true


@pytest.mark.parametrize("length", ["", "-3", "+3", "3x", "9" * 30, "9" * 5000])
def test_length_that_is_not_a_number_raises(stored, length):
    with pytest.raises(BitcipherError, match=r"The record at byte 142 of .*a\.wet has no valid Content-Length"):
        read(stored("a.wet", INFO + record("conversion", b"one", length)))


def test_converted_line_endings_are_read_where_lengths_are_right(stored):
    records = [record("warcinfo", b"two\r\nlines"), record("conversion", b"one\ntwo"), record("conversion", b"three")]
    source = stored("a.wet", b"".join(records).replace(b"\r\n", b"\n"))
    documents = read_chunks(source, ReadOptions(max_bad_share=1.0))
    assert [chunk.text for chunk in documents] == ["one\ntwo", "three"]


def test_compressed_file_without_compression_ending_is_read(stored, compress):
    whole = compress(".gz", INFO) + compress(".gz", record("conversion", b"one"))
    assert read(stored("a.wet", whole)) == ["one"]
    for length in range(len(whole) - 20, len(whole)):
        with pytest.raises(BitcipherError, match=r"a\.wet.*truncated"):
            list(read_chunks(stored("a.wet", whole[:length]), ReadOptions()))
