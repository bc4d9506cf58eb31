"""Files of vectors as they are found: without a header, with a wrong one, with words of several parts, compressed."""

import gzip
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher import BitcipherError, CipherVectors, storage
from bitcipher.formats import read

LINES = ["the 1 2.5 -3e-2", "of 4 5 6", "and -7 8 9"]
ROWS = np.array([[1, 2.5, -0.03], [4, 5, 6], [-7, 8, 9]], np.float32)


@pytest.fixture
def reading(tmp_path):
    def read_text(text: str | bytes, **settings) -> CipherVectors:
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
def test_headers_and_ends_of_lines(reading, text):
    with warnings.catch_warnings(action="error"):
        for content in (text.encode(), gzip.compress(text.encode())):
            vectors = reading(content)
            assert vectors.index_to_key == ["the", "of", "and"]
            np.testing.assert_array_equal(vectors.vectors, ROWS)


def test_words_may_hold_spaces_as_in_glove_840b(reading):
    vectors = reading("the 1 2\n. . . 3 4\nat name@domain.com 5 6\nto 7 8\n 9 10\n")
    assert vectors.index_to_key == ["the", ". . .", "at name@domain.com", "to", ""]
    np.testing.assert_array_equal(vectors["at name@domain.com"], [5, 6])


def test_the_first_word_may_hold_spaces(reading):
    assert reading("new york 1 2\nthe 3 4\nof 5 6\n").index_to_key == ["new york", "the", "of"]


def test_words_of_odd_spaces_stay_whole(reading):
    words = ["a\u00a0b", "\u2028", "\u3000", "x\u0085y", '"quoted"', "1"]
    text = f"{len(words)} 2\n" + "".join(f"{word} 1 2\n" for word in words)
    assert reading(text).index_to_key == words


def test_the_first_of_doubled_words_stays_and_it_is_said_once(reading):
    with pytest.warns(UserWarning, match="2 words a second time") as said:
        vectors = reading("a 1\nb 2\na 3\na 4\n")
    assert len(said) == 1
    assert vectors.index_to_key == ["a", "b"]
    np.testing.assert_array_equal(vectors.vectors, [[1], [2]])


def test_bytes_that_are_no_text_are_replaced_and_it_is_said(reading):
    with pytest.warns(UserWarning, match="1 words with"):
        assert reading(b"caf\xe9 1 2\nna\xc3\xafve 3 4\n").index_to_key == ["caf\ufffd", "naïve"]


def test_wrong_headers(reading):
    with pytest.warns(UserWarning, match="says 2 words, but it holds 3"):
        assert len(reading("2 3\n" + "\n".join(LINES))) == 3
    with pytest.warns(UserWarning, match="says 300 dimensions, but its lines have 3"):
        assert reading("3 300\n" + "\n".join(LINES)).vector_size == 3
    with pytest.raises(BitcipherError, match="says that it holds 4 words, but it ends after 3"):
        reading("4 3\n" + "\n".join(LINES))


def test_one_dimension(reading):
    assert reading("2 1\na 0.5\nb 2\n").index_to_key == ["a", "b"]
    assert reading("7 5\n8 2\n9 1\n", format="glove").index_to_key == ["7", "8", "9"]
    assert reading("7 5\n8 2\n9 1\n").index_to_key == ["7", "8", "9"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("3 3\n", "ends within word 1 of 3"),
        ("hello\nworld\n", "Line 1 of .* is not a word with numbers"),
        ("3 3\n" + "\n".join(LINES)[:-3], "Line 4 of .* has 1 numbers after its word instead of 3"),
        ("a 1 2\nb 3 4\nc 5\nd 6 7\n", "Line 3 of .* has 1 numbers after its word instead of 2"),
        ("a 1 2\nb 3 x\nc 5 6\n", "Line 2 of .* holds b'x' where a number"),
        ("a 1 2\nb 3 nan\nc 5 6\n", "'b' .row 1. holds a value that is not a number"),
        ("a 1 2\nb 3 1e60\nc 5 6\n", "'b' .row 1. holds a value that is not a number or is too large"),
        (b"PK\x03\x04abc", "zip archive"),
        (b"\xba\x16\x4f\x2f\0\0", r"model of fastText .*\.vec"),
        (gzip.compress(b"a 1 2\n" * 999)[:-20], "not a whole gzip file"),
    ],
)
def test_damaged_text_is_told_with_its_line(reading, text, message):
    with pytest.raises(BitcipherError, match=message):
        reading(text)


def test_no_file_and_foreign_folders(tmp_path):
    with pytest.raises(BitcipherError, match="There is no file"):
        read(tmp_path / "nothing")
    with pytest.raises(BitcipherError, match="folder of no format"):
        read(tmp_path)
    with pytest.raises(BitcipherError, match="no format 'word3vec'"):
        read(tmp_path, format="word3vec")


def test_files_in_a_store_are_read():
    with storage.writing("memory://formats/text.gz") as stream:
        stream.write(gzip.compress("\n".join(LINES).encode()))
    np.testing.assert_array_equal(CipherVectors.read("memory://formats/text.gz").vectors, ROWS)


def test_vectors_of_bitcipher_are_loaded(tmp_path, table):
    table.save(tmp_path / "saved")
    assert CipherVectors.read(tmp_path / "saved").counts.tolist() == table.counts.tolist()


def test_lines_may_lie_across_blocks(reading, monkeypatch):
    from bitcipher.formats import word_lines

    monkeypatch.setattr(word_lines, "READ_BYTES", 32)
    vectors = reading("3 3\n" + "\n".join(LINES))
    np.testing.assert_array_equal(vectors.vectors, ROWS)
    with pytest.raises(BitcipherError, match=r"Line 2 of .* does not end"):
        reading("the 1\nof " + "x" * 99)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_numbers_are_read_as_numpy_reads_them(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("numbers") / "file"
    path.write_text(f"1 {len(numbers)}\nword " + " ".join(map(repr, numbers)))
    expected = np.array(numbers, np.float32)
    if np.linalg.norm(expected.astype(np.float64)) < np.finfo(np.float32).max:
        assert read(path).vectors.tobytes() == expected.tobytes()
