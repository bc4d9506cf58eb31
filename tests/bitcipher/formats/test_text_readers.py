"""Reader of text formats: files with and without headers, wrong headers, words with spaces, and compressed files."""

import gzip
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher import BitcipherError, CipherVectors
from bitcipher.files import storage
from bitcipher.formats import word_lines
from bitcipher.formats.reader import read
from bitcipher.table.vector_table import VectorTable

LINES = ["the 1 2.5 -3e-2", "of 4 5 6", "and -7 8 9"]
ROWS = np.array([[1, 2.5, -0.03], [4, 5, 6], [-7, 8, 9]], np.float32)


@pytest.fixture
def read_content(tmp_path):
    def read_text(text: str | bytes, **settings) -> VectorTable:
        path = tmp_path / "file"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path, **settings)

    return read_text


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(LINES),
        "\n".join(LINES) + "\n",
        "3 3\n" + "\n".join(LINES) + "\n",
        "3 3 \n" + " \n".join(LINES) + " \n",  # fastText ends lines with a space
        "3\t3\r\n" + "\r\n".join(LINES) + "\r\n",
        "3 3\n" + "\n".join(LINES) + "\n\n\n\n\n",
    ],
)
def test_headers_and_line_endings_do_not_change_the_table(read_content, text):
    with warnings.catch_warnings(action="error"):
        for content in (text.encode(), gzip.compress(text.encode())):
            vectors = read_content(content)
            assert vectors.index_to_key == ["the", "of", "and"]
            np.testing.assert_array_equal(vectors.vectors, ROWS)


def test_words_may_contain_spaces_as_in_glove_840b(read_content):
    vectors = read_content("the 1 2\n. . . 3 4\nat name@domain.com 5 6\nto 7 8\n 9 10\n")
    assert vectors.index_to_key == ["the", ". . .", "at name@domain.com", "to", ""]
    np.testing.assert_array_equal(vectors.vectors[2], [5, 6])


def test_the_first_word_may_contain_spaces(read_content):
    assert read_content("new york 1 2\nthe 3 4\nof 5 6\n").index_to_key == ["new york", "the", "of"]


def test_words_with_unusual_spaces_stay_whole(read_content):
    words = ["a\u00a0b", "\u2028", "\u3000", "x\u0085y", '"quoted"', "1"]
    text = f"{len(words)} 2\n" + "".join(f"{word} 1 2\n" for word in words)
    assert read_content(text).index_to_key == words


def test_first_of_repeated_words_is_used_with_one_warning(read_content):
    with pytest.warns(UserWarning, match="repeats 2 words") as warned:
        vectors = read_content("a 1\nb 2\na 3\na 4\n")
    assert len(warned) == 1
    assert vectors.index_to_key == ["a", "b"]
    np.testing.assert_array_equal(vectors.vectors, [[1], [2]])


def test_wrong_headers_raise(read_content):
    with pytest.raises(BitcipherError, match="holds 3 words, but its header says 2"):
        read_content("2 3\n" + "\n".join(LINES))
    with pytest.raises(BitcipherError, match="says 300 dimensions, but its lines have 3"):
        read_content("3 300\n" + "\n".join(LINES))
    with pytest.raises(BitcipherError, match="says 0 dimensions"):
        read_content("3 0\na\nb\n")
    with pytest.raises(BitcipherError, match="ends after 3 words, but its header says 4"):
        read_content("4 3\n" + "\n".join(LINES))


def test_vectors_of_one_dimension_are_read(read_content):
    assert read_content("2 1\na 0.5\nb 2\n").index_to_key == ["a", "b"]
    assert read_content("7 5\n8 2\n9 1\n", format="glove").index_to_key == ["7", "8", "9"]
    with pytest.raises(BitcipherError, match=r"says 5 dimensions, but its lines have 1.*glove"):
        read_content("7 5\n8 2\n9 1\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("3 3\n", "ends after 0 words, but its header says 3"),
        ("hello\nworld\n", "Line 1 of .* is not a word followed by numbers"),
        ("3 3\n" + "\n".join(LINES)[:-3], "Line 4 of .* has 1 values after its word instead of 3"),
        ("a 1 2\nb 3 4\nc 5\nd 6 7\n", "Line 3 of .* has 1 values after its word instead of 2"),
        ("a 1 2\nb 3 x\nc 5 6\n", "Line 2 of .* holds 'x' instead of a number"),
        ("a 1 2\nb 3 nan\nc 5 6\n", "'b' .row 1. holds a value that is not finite"),
        ("a 1 2\nb 3 1e60\nc 5 6\n", "'b' .row 1. holds a value that is not finite or is too large"),
        (b"PK\x03\x04abc", "zip archive"),
        (b"\xba\x16\x4f\x2f\0\0", r"fastText model .*\.vec"),
        (gzip.compress(b"a 1 2\n" * 999, mtime=0)[:-20], "not a complete gzip file"),
        (gzip.compress(b"a 1 2\nb 3 4\n", mtime=0) + b"garbage", "has other bytes after its end"),
        (gzip.compress(gzip.compress(b"a 1 2\n", mtime=0), mtime=0), "compressed with gzip twice"),
        ("<!DOCTYPE html>\n<html><body>Not found</body></html>\n", "a web page"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
    ],
)
def test_damaged_text_raises_with_its_line(read_content, text, message):
    with pytest.raises(BitcipherError, match=message):
        read_content(text)


def test_missing_files_and_other_folders_raise(tmp_path):
    with pytest.raises(BitcipherError, match="no file"):
        read(tmp_path / "nothing")
    with pytest.raises(BitcipherError, match="none of the readable formats"):
        read(tmp_path)
    with pytest.raises(BitcipherError, match="no format 'word3vec'"):
        read(tmp_path, format="word3vec")


def test_files_in_a_store_are_read():
    with storage.writing("memory://formats/text.gz") as stream:
        stream.write(gzip.compress("\n".join(LINES).encode()))
    np.testing.assert_array_equal(CipherVectors.load("memory://formats/text.gz").vectors, ROWS)


def test_folders_of_bitcipher_are_read(tmp_path, table):
    table.save(tmp_path / "saved")
    assert CipherVectors.load(tmp_path / "saved").counts.tolist() == table.counts.tolist()


def test_lines_may_span_blocks(read_content, monkeypatch):
    monkeypatch.setattr(word_lines, "READ_BYTES", 32)
    monkeypatch.setattr(word_lines, "MAX_LINE_BYTES", 32)
    vectors = read_content("3 3\n" + "\n".join(LINES))
    np.testing.assert_array_equal(vectors.vectors, ROWS)
    with pytest.raises(BitcipherError, match=r"Line 2 of .* does not end"):
        read_content("the 1\nof " + "x" * 99)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_values_equal_those_of_numpy(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("numbers") / "file"
    path.write_text(f"1 {len(numbers)}\nword " + " ".join(map(repr, numbers)))
    expected = np.array(numbers, np.float32)
    if np.linalg.norm(expected.astype(np.float64)) < np.finfo(np.float32).max:
        assert read(path).vectors.tobytes() == expected.tobytes()
