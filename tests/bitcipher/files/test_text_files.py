"""Reader of text files: encodings, byte-order marks, line ends and compression."""

import bz2
import codecs
import gzip
import io
import lzma

import pytest

from bitcipher import BitcipherError
from bitcipher.files import text_files
from bitcipher.files.text_files import decode_text, extend_ascii, read_lines

WORDS = ["the", "café", "naïve", "Wörter", "日本"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_marks_and_line_ends_are_not_part_of_words(tmp_path, end, compress, mark, codec):
    for text in (end.join(WORDS), end.join(WORDS) + end):
        (tmp_path / "words").write_bytes(compress(mark + text.encode(codec)))
        assert read_lines(str(tmp_path / "words")) == WORDS


def test_marks_of_concatenated_files_are_removed(tmp_path):
    (tmp_path / "words").write_bytes("the\n".encode("utf-8-sig") + "cat\n\n".encode("utf-8-sig"))
    assert read_lines(str(tmp_path / "words")) == ["the", "cat", ""]
    (tmp_path / "words").write_bytes(b"")
    assert read_lines(str(tmp_path / "words")) == []


def test_the_encoding_that_the_caller_names_decides():
    assert decode_text("café".encode("cp1252"), "words", "cp1252") == "café"
    assert decode_text("café".encode("utf-16-le"), "words", "utf-16-le") == "café"
    assert decode_text("café".encode("utf-8-sig"), "words", "utf8") == "café"
    with pytest.raises(BitcipherError, match="not text in UTF-8"):
        decode_text("café".encode("utf-16"), "words", "utf8")
    for name in ("utf9", "hex", "rot13", "base64"):
        with pytest.raises(BitcipherError, match="an encoding that Python knows"):
            decode_text(b"cafe", "words", name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the\ncat\ncafé\n".encode("cp1252"), r"Line 3 of words is not text in UTF-8: byte 11 is 0xe9"),
        ("the\ncafé".encode("utf-16-le"), r"Line 1 of words holds a NUL character.*UTF-16"),
        ("the\ncafé".encode("utf-32-be"), r"Line 1 of words holds a NUL character"),
        (codecs.BOM_UTF16_LE + b"a\0b", r"Line 1 of words is not text in UTF-16: byte"),
    ],
)
def test_other_bytes_are_refused_with_their_place(content, message):
    with pytest.raises(BitcipherError, match=message):
        decode_text(content, "words")


def test_other_compression_is_refused_by_its_first_bytes(tmp_path):
    for compress, name in ((bz2.compress, "bzip2"), (lzma.compress, "xz")):
        (tmp_path / "words").write_bytes(compress(b"the\n"))
        with pytest.raises(BitcipherError, match=f"is compressed with {name}"):
            read_lines(str(tmp_path / "words"))
    (tmp_path / "words").write_bytes(b"BZh\nPK\n")  # words
    assert read_lines(str(tmp_path / "words")) == ["BZh", "PK"]


def read_all(content: bytes, encoding: str | None, size: int) -> tuple[bytes, str]:
    stream, codec = extend_ascii(io.BytesIO(content), "file", encoding)
    parts = []
    while part := stream.read(size):
        parts.append(part)
    return b"".join(parts), codec


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_streams_extend_ascii_and_have_no_mark(size):
    text = "2 3\ncafé 1 2 3\n日本 4 5 6\n"
    for codec in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        assert read_all(text.encode(codec), None, size) == (text.encode(), "utf-8")
    for codec in ("utf-16-be", "utf-7", "utf-8"):
        assert read_all(text.encode(codec), codec, size) == (text.encode(), "utf-8")
    latin = text.replace("日本", "à")
    assert read_all(latin.encode("cp500"), "cp500", size) == (latin.encode(), "utf-8")
    assert read_all(latin.encode("cp1252"), "cp1252", size) == (latin.encode("cp1252"), "cp1252")
    assert read_all(text.encode("gbk"), "gbk", size) == (text.encode("gbk"), "gbk")
    assert read_all(b"", None, size) == (b"", "utf-8")
    with pytest.raises(BitcipherError, match="file is not text in UTF-16"):
        read_all(text.encode("utf-16")[:-1], None, size)


def test_large_files_are_refused_if_there_is_a_maximum(tmp_path):
    (tmp_path / "list").write_bytes(gzip.compress(bytes(1 << 21)))
    with pytest.raises(BitcipherError, match="more than 1 MiB"):
        text_files.read_lines(str(tmp_path / "list"), max_bytes=1 << 20)


@pytest.mark.parametrize(
    ("block", "sentence"), [(b"a\n", "more than 20,000,000 lines"), (bytes(14), "more than 256 MiB")]
)
def test_small_compressed_files_do_not_fill_the_memory(tmp_path, block, sentence):
    (tmp_path / "list").write_bytes(gzip.compress(block * 20_000_001, 1))
    with pytest.raises(BitcipherError, match=sentence):
        text_files.read_lines(str(tmp_path / "list"))
