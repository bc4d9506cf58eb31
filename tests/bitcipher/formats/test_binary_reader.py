"""Reader of word2vec's binary format."""

import gzip

import numpy as np
import pytest

from bitcipher import BitcipherError
from bitcipher.formats import word2vec_binary
from bitcipher.formats.reader import read

ROWS = np.arange(6, dtype="<f4").reshape(2, 3) + 0.5


def content(end: bytes = b"\n", header: bytes = b"2 3\n") -> bytes:
    return header + b"".join(
        word + b" " + row.tobytes() + end for word, row in zip((b"a", b"b\xc3\xa9"), ROWS, strict=True)
    )


@pytest.mark.parametrize("data", [content(), content(b""), gzip.compress(content(), mtime=0)])
def test_line_breaks_are_optional(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    vectors = read(tmp_path / "file")
    assert vectors.index_to_key == ["a", "bé"]
    np.testing.assert_array_equal(vectors.vectors, ROWS)


def test_records_may_span_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(word2vec_binary, "READ_BYTES", 5)
    (tmp_path / "file").write_bytes(content())
    np.testing.assert_array_equal(read(tmp_path / "file").vectors, ROWS)


@pytest.mark.parametrize("size", range(5, len(content()) - 1))
def test_truncated_file_raises(tmp_path, size):
    (tmp_path / "file").write_bytes(content()[:size])
    with pytest.raises(BitcipherError, match=r"ends within word [12] of 2"):
        read(tmp_path / "file", format="word2vec-binary")


def test_damaged_file_raises(tmp_path):
    (tmp_path / "file").write_bytes(content(header=b"1 3\n"))
    for format in (None, "word2vec-binary"):
        with pytest.raises(BitcipherError, match="data after the 1 words"):
            read(tmp_path / "file", format=format)
    for header in (b"words 3\n", b"2 0\n", b"2 99999999999\n"):
        (tmp_path / "file").write_bytes(content(header=header))
        with pytest.raises(BitcipherError, match="Line 1"):
            read(tmp_path / "file", format="word2vec-binary")
    (tmp_path / "file").write_bytes(b"2 3\n" + b"x" * (1 << 22))
    with pytest.raises(BitcipherError, match=r"Word 1 of .* does not end"):
        read(tmp_path / "file", format="word2vec-binary")
    (tmp_path / "file").write_bytes(b"1 1\na " + np.float32(np.nan).tobytes())
    with pytest.raises(BitcipherError, match="vector of 'a'"):
        read(tmp_path / "file")
