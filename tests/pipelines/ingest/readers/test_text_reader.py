import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.ingest.documents import read_documents
from pipelines.ingest.readers import ReadOptions, read_chunks

LINES = ReadOptions()
FILES = ReadOptions(document="file")
# A carriage return before the line feed belongs to the line terminator, so no line can end with one.
# Control characters are those of binary data, and lines that end like names of files are a list of paths.
line = st.text(st.characters(exclude_categories=["Cc", "Cs"])).map(lambda text: text.rstrip("\r"))
line = line.filter(lambda text: not re.search(r"\.\w+$|://", text.strip()))


def kept(texts):
    return [text for text in texts if text.strip()]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@given(lines=st.lists(line), last_is_ended=st.booleans())
def test_reader_returns_the_written_lines(stored, compress, ending, line_end, lines, last_is_ended):
    content = line_end.join(lines) + line_end * last_is_ended
    source = stored(f"a.txt{ending}", compress(ending, content.encode()))
    expected = kept(lines)
    if expected and content.startswith("\ufeff"):
        expected = kept([lines[0].removeprefix("\ufeff"), *lines[1:]])
    assert [chunk.text for chunk in read_chunks(source, LINES)] == expected


def test_only_line_feeds_end_a_line(stored):
    text = "one\u2028two\u2029three\x0bfour\x0cfive\x85six\x1cseven\reight"
    assert [chunk.text for chunk in read_chunks(stored("a.txt", f"{text}\nnine".encode()), LINES)] == [text, "nine"]


def test_whole_file_is_one_document(stored):
    source = stored("a.txt", b"first line\r\n\r\nsecond line\n")
    assert [chunk.text for chunk in read_chunks(source, FILES)] == ["first line\r\n\r\nsecond line\n"]


def test_long_file_is_one_document_in_several_chunks(stored):
    text = "wörter und mehr\n" * 200_000
    chunks = list(read_chunks(stored("a.txt", text.encode()), FILES))
    assert "".join(chunk.text for chunk in chunks) == text
    assert len(chunks) > 2
    assert [chunk.continues for chunk in chunks] == [True] * (len(chunks) - 1) + [False]


def test_file_of_one_word_above_the_limit_raises(stored, compress):
    source = stored("a.txt.zst", compress(".zst", b"some words " + b"x" * (4 << 20) + b" end"))
    options = ReadOptions(document="file", max_record_mib=1)
    with pytest.raises(BitcipherError, match=r"a\.txt\.zst has more than 1 MiB of text without white space"):
        list(read_chunks(source, options))
    assert sum(len(chunk.text) for chunk in read_chunks(source, FILES)) == 15 + (4 << 20)


def test_file_above_the_limit_is_no_whole_document(stored):
    source = stored("a.txt", b"words " * 400_000)
    options = ReadOptions(document="file", max_record_mib=1)
    with pytest.raises(BitcipherError, match=r"a\.txt is one document of more than 1 Mi characters: raise `max_record"):
        list(read_documents(source, options))
    assert sum(len(chunk.text) for chunk in read_chunks(source, options)) == 2_400_000
    assert [len(text) for text in read_documents(source, FILES)] == [2_400_000]


def test_lines_and_files_of_white_space_are_skipped(stored):
    source = stored("a.txt", " \n\t\r\n\n\u3000\n".encode())
    assert [chunk.text for chunk in read_chunks(source, LINES)] == []
    assert [chunk.text for chunk in read_chunks(source, FILES)] == []


@pytest.mark.parametrize("options", [LINES, FILES])
def test_bytes_that_are_not_utf8_are_replaced(stored, options):
    content = "naïve: ".encode() + b"caf\xe9!"
    assert [chunk.text for chunk in read_chunks(stored("a.txt", content), options)] == ["naïve: caf\ufffd!"]
