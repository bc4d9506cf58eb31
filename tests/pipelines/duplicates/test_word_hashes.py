"""Hashes of words against words found in plain Python, and the normal form."""

import numpy as np
import pyarrow as pa
import pytest
from duplicate_reference import words_of
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.duplicates import word_hashes
from pipelines.duplicates.word_hashes import as_text, hash_sequences, hash_words

# Letters, digits, marks and separators of many scripts, so that words of several characters and lines are frequent.
TEXTS = st.lists(
    st.text(
        st.one_of(
            st.sampled_from("aAbé éIİßſ 12٣\n\n\0\u00ad.-中文ไทยกั日カ가각\u0301\u064eقلب"),
            st.characters(exclude_categories=["Cs"]),
        )
    ),
    max_size=6,
)


def hashes_by_line(texts, fold_numbers=False):
    """Return the hashes of the words of each line of each document."""
    documents = []
    for hashed in hash_words(as_text(texts), fold_numbers):
        assert hashed.first == len(documents)
        lines = np.split(hashed.words, hashed.line_ends[:-1])
        assert hashed.line_ends[-1] == len(hashed.words)
        for start, end in zip([0, *hashed.document_ends[:-1]], hashed.document_ends, strict=True):
            documents.append([line.tolist() for line in lines[start:end]])
    return documents


def hashes(text, fold_numbers=False):
    return hashes_by_line(pa.array([text]), fold_numbers)[0]


@given(TEXTS, st.booleans())
@example(["", "\n", "a\n\nb", "1 22 3a3", "İstanbul", "𠀀a", "\U0010ffff"], True)
def test_words_are_those_of_the_reference(texts, fold_numbers):
    found = hashes_by_line(pa.array(texts, pa.string()), fold_numbers)
    expected = [[words_of(line, fold_numbers) for line in text.split("\n")] for text in texts]
    assert [[len(line) for line in text] for text in found] == [[len(line) for line in text] for text in expected]
    pairs = {
        pair
        for lines, words in zip(found, expected, strict=True)
        for line, line_words in zip(lines, words, strict=True)
        for pair in zip(line, line_words, strict=True)
    }
    assert len(pairs) == len({hash for hash, _ in pairs}) == len({word for _, word in pairs})


def test_all_characters_are_those_of_the_reference():
    characters = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x33000), *range(0xE0000, 0xE0200))]
    found = hashes_by_line(pa.array([f"x{character}y" for character in characters]))
    differing = [
        hex(ord(character))
        for character, lines in zip(characters, found, strict=True)
        if character != "\n" and len(lines[0]) != len(words_of(f"x{character}y"))
    ]
    assert not differing


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Hello, World!", "hello   world"),
        ("Crème brûlée", "creme bru\u0302le\u0301e"),
        ("co\u00adoperate\u200b", "cooperate"),
        ("عَرَبِيّ", "عربي"),
        ("رقم ٤٢", "رقم 42"),
        ("a\0b\x1fc", "a b c"),
        ("我们，来了", "我 们 来 了"),
        ("ÅNGSTRÖM", "ångström"),
    ],
)
def test_texts_with_the_same_normal_form(text, other):
    assert hashes(text) == hashes(other)
    assert hashes(text)[0]


@pytest.mark.parametrize(
    ("text", "other"),
    [("ab", "a b"), ("ab", "ba"), ("가", "각"), ("12", "21"), ("我们", "们我"), ("a", "aa"), ("a1", "a11")],
)
def test_texts_with_different_normal_forms(text, other):
    assert hashes(text) != hashes(other)


def test_numbers_are_folded_only_on_request():
    assert hashes("page 7 of 123", True) == hashes("page 12 of 4", True)
    assert hashes("page 7 of 123") != hashes("page 12 of 4")
    assert hashes("a1b22", True) == hashes("a33b4", True) != hashes("a1b", True)


@pytest.mark.parametrize("text", ["", " \n\t", "...!", "😀 €", "\0", "\ue000"])
def test_texts_without_words(text):
    assert not any(hashes(text))


def test_chinese_has_one_word_per_character_and_korean_one_per_run():
    assert len(hashes("他们在北京大学读书")[0]) == 9
    assert len(hashes("그들은 대학에서")[0]) == 2
    assert len(hashes("สวัสดี")[0]) == 4  # two vowels are marks


@given(st.lists(st.binary(max_size=12), min_size=1, max_size=4))
@example([b"\xed\xa0\x80", b"a\xe4", b"\xe4\xb8", b"\xf4\x90\x80\x80", b"\xf5", b"\xc0\x80", b"\x80"])
def test_bytes_that_are_not_utf_8_separate_words_and_stay_in_their_document(documents):
    data = b"".join(b"left " + each + b" right" for each in documents)
    offsets = np.cumsum([0, *(len(each) + 11 for each in documents)])
    array = pa.LargeStringArray.from_buffers(len(documents), pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(data))
    (left,), (right,) = hashes("left")[0:1], hashes("right")[0:1]
    for lines in hashes_by_line(array):
        words = [word for line in lines for word in line]
        assert words[0] == left[0]
        assert words[-1] == right[0]


def test_characters_do_not_cross_the_ends_of_documents():
    data = "中".encode()
    for split in (1, 2):
        offsets = np.array([0, split, len(data)])
        array = pa.LargeStringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(data))
        assert hashes_by_line(array) == [[[]], [[]]]


def test_lone_surrogates_separate_words():
    data = "a\ud800b".encode("utf-8", "surrogatepass")
    array = pa.LargeStringArray.from_buffers(1, pa.py_buffer(np.array([0, len(data)])), pa.py_buffer(data))
    assert hashes_by_line(array) == [hashes("a b")]


def test_result_does_not_depend_on_slices_chunks_and_types(monkeypatch):
    texts = ["one two\nthree", "", None, "中文 four", "five " * 50, "six"]
    expected = [hashes(text or "") for text in texts]
    assert hashes_by_line(pa.array(texts, pa.large_string())) == expected
    assert hashes_by_line(pa.array(["before", *texts, "after"]).slice(1, len(texts))) == expected
    assert hashes_by_line(pa.chunked_array([texts[:2], texts[2:]])) == expected
    for size in (1, 8, 20, 1000):
        monkeypatch.setattr(word_hashes, "SLICE_BYTES", size)
        assert hashes_by_line(pa.array(texts)) == expected


def test_hashes_of_sequences_depend_on_order_length_and_seed():
    words = np.array([5, 6, 5, 6, 6, 5, 0], np.uint64)
    ends = np.array([2, 4, 6, 6, 7])
    first, second, third, empty, zero = hash_sequences(words, ends, np.uint64(1)).tolist()
    assert first == second
    assert len({first, third, empty, zero}) == 4
    assert not set(hash_sequences(words, ends, np.uint64(2)).tolist()) & {first, third, empty, zero}
