"""Normalization: equal strings for what looks the same, and joiners where scripts use them."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher import CipherVectors
from bitcipher.evaluation.case_variants import CaseVariants
from bitcipher.normalization import normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cafe\u0301", "café"),
        ("mu\u00adse\u00adum", "museum"),
        ("wi\u200bdth \ufeffspace\u2060s", "width spaces"),
        ("\u202bكتاب\u202c \u2066a\u2069\u200e", "كتاب a"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क\u094d\u200dष", "क\u094d\u200dष"),
        ("👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥", "👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥"),
        ("wi\u200cd\u200d\u200dth", "width"),
        ("²ﬁ①", "²ﬁ①"),
    ],
)
def test_normal_form(text, expected):
    assert normalize(text) == expected


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_normalization_is_idempotent_and_nfc(text):
    once = normalize(text)
    assert normalize(once) == once
    assert unicodedata.is_normalized("NFC", once)


def test_lookups_normalize_if_the_words_are_normalized():
    words = ["café", "museum", "<oov>"]
    options = {"normalization": "NFC", "tokenizer": "spacy"}
    vectors = CipherVectors(words, np.eye(3), manifest={"options": options})
    assert vectors.get_index("cafe\u0301") == 0
    assert "mu\u00adseum" in vectors
    for other in (
        {},
        {"options": {**options, "normalization": "none"}},
        {"options": {**options, "tokenizer": "a.json"}},
    ):
        assert "cafe\u0301" not in CipherVectors(words, np.eye(3), manifest=other)


@pytest.mark.parametrize("word", ["İstanbul", "STRAẞE", "ΣΊΣΥΦΟΣ", "Ǆ", "ﬁne"])
def test_case_insensitive_lookups_find_what_a_build_lowercased(word):
    variants = CaseVariants([word.lower()], True)
    assert word in variants
    assert word.lower().title() in variants or word == "ﬁne"
