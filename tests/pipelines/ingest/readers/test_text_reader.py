import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.ingest.readers import ReadOptions, read_chunks

LINES = ReadOptions()
FILES = ReadOptions(document="file")
# A carriage return before the line feed belongs to the line terminator, so no line can end with one.
# Control characters are those of binary data.
line = st.text(st.characters(exclude_categories=["Cc", "Cs"])).map(lambda text: text.rstrip("\r"))


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


def test_lines_and_files_of_white_space_are_skipped(stored):
    source = stored("a.txt", " \n\t\r\n\n\u3000\n".encode())
    assert [chunk.text for chunk in read_chunks(source, LINES)] == []
    assert [chunk.text for chunk in read_chunks(source, FILES)] == []


@pytest.mark.parametrize("options", [LINES, FILES])
def test_bytes_that_are_not_utf8_are_replaced(stored, options):
    content = "naïve: ".encode() + b"caf\xe9!"
    assert [chunk.text for chunk in read_chunks(stored("a.txt", content), options)] == ["naïve: caf\ufffd!"]
