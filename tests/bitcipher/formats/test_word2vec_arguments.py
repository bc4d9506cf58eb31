"""`load_word2vec_format`: gensim's arguments in gensim's positions, encodings, and counts."""

import inspect
import warnings

import numpy as np
import pytest
from gensim.models import KeyedVectors

from bitcipher import BitcipherError, CipherVectors

ROWS = np.array([[1, 2], [3, 4]], np.float32)


def write_text(path, words: list[str], encoding: str) -> None:
    lines = [f"{word} {row} {row + 0.5}" for row, word in enumerate(words)]
    path.write_bytes("\n".join([f"{len(words)} 2", *lines, ""]).encode(encoding))


def write_binary(path, words: list[bytes]) -> None:
    rows = (np.float32([row, row + 0.5]).tobytes() for row in range(len(words)))
    lines = (word + b" " + row + b"\n" for word, row in zip(words, rows, strict=True))
    path.write_bytes(f"{len(words)} 2\n".encode() + b"".join(lines))


def test_arguments_have_the_positions_of_gensim():
    ours, theirs = (
        list(inspect.signature(cls.load_word2vec_format).parameters) for cls in (CipherVectors, KeyedVectors)
    )
    assert ours == theirs


@pytest.mark.parametrize("encoding", ["latin-1", "cp1251", "gbk", "shift_jis", "utf-16", "utf-16-le", "utf-8", "utf-7"])
def test_named_encodings_decode_text(tmp_path, encoding):
    words = {"cp1251": ["кот", "пёс"], "gbk": ["猫", "狗 子"], "shift_jis": ["表", "ソ"]}.get(
        encoding, ["café", "cafè"]
    )
    write_text(tmp_path / "file", words, encoding)
    with warnings.catch_warnings(action="error"):
        vectors = CipherVectors.load_word2vec_format(tmp_path / "file", None, False, encoding)
    assert vectors.index_to_key == words
    np.testing.assert_array_equal(vectors.vectors, [[0, 0.5], [1, 1.5]])


def test_named_encodings_decode_binary_words(tmp_path):
    write_binary(tmp_path / "file", ["café".encode("latin-1"), "cafè".encode("latin-1")])
    vectors = CipherVectors.load_word2vec_format(tmp_path / "file", binary=True, encoding="latin-1")
    assert vectors.index_to_key == ["café", "cafè"]
    with pytest.raises(BitcipherError, match=r"Word 1 of .* holds b'caf\\xe9', which is not text in UTF-8: name"):
        CipherVectors.load(tmp_path / "file")


@pytest.mark.parametrize("binary", [False, True])
def test_damaged_words_are_refused_or_stay_apart(tmp_path, binary):
    def load(words: list[str], **settings) -> CipherVectors:
        if binary:
            write_binary(tmp_path / "file", [word.encode("latin-1") for word in words])
        else:
            write_text(tmp_path / "file", words, "latin-1")
        return CipherVectors.load_word2vec_format(tmp_path / "file", binary=binary, **settings)

    for words in (["café", "the"], ["the", "café", "cafè"]):
        with pytest.raises(BitcipherError, match=r"holds b'caf\\xe9', which is not text in UTF-8"):
            load(words)
    for errors, damaged in (("replace", "caf\ufffd"), ("ignore", "caf")):
        with pytest.warns(UserWarning, match="has 1 words with"):
            assert load(["the", "café"], unicode_errors=errors).index_to_key == ["the", damaged]
        with pytest.raises(BitcipherError, match=f"becomes '{damaged}', as another word does"):
            load(["café", "the", "cafè"], unicode_errors=errors)
        with pytest.warns(UserWarning, match="repeats 1 words"):
            assert load(["café", "the", "café"], unicode_errors=errors).index_to_key == [damaged, "the"]
    with pytest.raises(BitcipherError, match="becomes 'caf', as another word does"):
        load(["caf", "café"], unicode_errors="ignore")
    with pytest.raises(BitcipherError, match="`unicode_errors` must be one of"):
        load(["the"], unicode_errors="surrogateescape")


def test_other_arguments_are_checked(tmp_path):
    write_text(tmp_path / "file", ["the", "cat"], "utf-8")
    assert CipherVectors.load_word2vec_format(tmp_path / "file", limit=1, datatype=np.float32).index_to_key == ["the"]
    for wrong, message in (
        ({"datatype": np.float16}, "`datatype` must be float32"),
        ({"datatype": "number"}, "`datatype` must be float32"),
        ({"limit": 0}, "`limit` must be"),
        ({"encoding": "utf9"}, "an encoding that Python knows"),
    ):
        with pytest.raises(BitcipherError, match=message):
            CipherVectors.load_word2vec_format(tmp_path / "file", **wrong)


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_counts_are_read_in_any_marked_encoding(tmp_path, codec):
    write_text(tmp_path / "file", ["the", "café"], "utf-8")
    (tmp_path / "counts").write_bytes("the 9\r\ncafé\t4\r\n\r\n".encode(codec))
    vectors = CipherVectors.load_word2vec_format(tmp_path / "file", tmp_path / "counts")
    assert vectors.counts.tolist() == [9, 4]


def test_missing_and_repeated_counts_are_not_silent(tmp_path):
    write_text(tmp_path / "file", ["the", "café"], "utf-8")
    (tmp_path / "counts").write_text("the 9\n")
    with pytest.warns(UserWarning, match="has no count of 1 of the 2 words"):
        assert CipherVectors.load_word2vec_format(tmp_path / "file", tmp_path / "counts").counts.tolist() == [9, 0]
    for content, message in ((b"the 9\nthe 8\n", "another count of 'the'"), (b"caf\xe9 9\n", "not text in UTF-8")):
        (tmp_path / "counts").write_bytes(content)
        with pytest.raises(BitcipherError, match=message):
            CipherVectors.load_word2vec_format(tmp_path / "file", tmp_path / "counts")
