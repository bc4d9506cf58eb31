"""Tokens of hostile text are those of spaCy, also where spaCy itself would need hours."""

from itertools import takewhile

import pyarrow as pa
import pytest
import spacy
from hostile_text import GROUPS, hostile_text, random_strings
from hypothesis import given
from hypothesis import strategies as st
from spacy.lang.en import English
from spacy.lang.tokenizer_exceptions import URL_MATCH, URL_PATTERN

from bitcipher.errors import BitcipherError
from pipelines.tokenizers import affix_peeling, spacy_english
from pipelines.tokenizers.affix_peeling import AffixPeeler, is_url
from pipelines.tokenizers.registry import make_tokenizer

PEELER = AffixPeeler()
UNITS = [unit for units in GROUPS.values() for unit in units]


def spacy_tokens(nlp, text):
    """Return spaCy's tokens of a text whose white space is single spaces.

    spaCy copies too many tokens into an array if special cases add tokens before others remove some. The words that
    follow make the array much larger than the text needs.
    """
    end = "\n" + "x " * 1_300 if "°" in text else ""
    return list(takewhile(lambda token: token != "\n", (token.text for token in nlp.tokenizer(text + end))))


@pytest.mark.parametrize(
    ("seeds", "number", "longest"), [(1, 600, 120), pytest.param(20, 10_000, 300, marks=pytest.mark.slow)]
)
def test_tokens_of_random_strings_equal_those_of_spacy(tokens_of, seeds, number, longest):
    nlp = spacy.blank("en")
    for seed in range(seeds):
        texts = list(random_strings(seed, number, longest))
        expected = [spacy_tokens(nlp, text) for text in texts]
        assert [PEELER.tokenize(text) for text in texts] == expected
        assert tokens_of(make_tokenizer("spacy", False).tokenize(pa.array(texts, pa.large_string()))) == expected


def test_cases_with_more_tokens_do_not_crash(tokens_of):
    """If spaCy got these chunks on lines of one text, it would write beyond the end of an array, and abort."""
    assert PEELER.growing_cases == ["°C.", "°F.", "°K."]
    for words in (89, 90, 91):
        chunks = [f"°C.°C.°C.{i}" for i in range(60)] + [f"(*_*{i}'''" for i in range(words)]
        (tokens,) = tokens_of(make_tokenizer("spacy", False).tokenize(pa.array([" ".join(chunks)], pa.large_string())))
        assert tokens == [token for chunk in chunks for token in PEELER.tokenize(chunk)]
    with pytest.raises(BitcipherError, match=r"spaCy can crash at '°C\.°' .* set `tokenizer` to spacy"):
        make_tokenizer("spacy-exact", False).tokenize(pa.array([" ".join(chunks)], pa.large_string()))
    (tokens,) = tokens_of(make_tokenizer("spacy-exact", False).tokenize(pa.array(["20°C. °C."], pa.large_string())))
    assert tokens == PEELER.tokenize("20°C. °C.")


def test_tokens_of_long_chunks_equal_those_of_spacy(tokens_of):
    nlp = spacy.blank("en")
    texts = [" ".join(hostile_text(unit, 200).split()) for unit in UNITS]
    expected = [[token.lower_ for token in nlp(text)] for text in texts]
    assert tokens_of(make_tokenizer("spacy", True).tokenize(pa.array(texts, pa.large_string()))) == expected
    assert sum(len(text) > 4 * spacy_english.LONG_CHUNK_BYTES for text in texts) > 80


@given(st.text("aZ1é北.:/@?#-_+ 𠀀\u00a1", max_size=40), st.sampled_from(["", "http://", "a@", "a.com"]))
def test_urls_are_those_of_spacy(text, beginning):
    string = beginning + text.replace(" ", "")
    assert is_url(string) == (URL_MATCH(string) is not None)


def test_a_url_has_the_known_pattern():
    """Otherwise, a URL is matched in quadratic time."""
    assert URL_PATTERN.startswith("^" + affix_peeling._PROTOCOL + affix_peeling._USER)
    assert affix_peeling._LABELS in URL_PATTERN


def test_suffixes_are_shorter_than_the_examined_end():
    """A suffix and its look-behind fit, except for runs of periods."""
    units = [suffix for suffix in map(str, English.Defaults.suffixes or ()) if "km²" in suffix]
    assert units
    longest = max(max(map(len, unit.split(":")[-1].rstrip(")").split("|"))) for unit in units)
    assert longest + 2 <= affix_peeling.SUFFIX_CHARACTERS


@pytest.mark.parametrize("unit", ["=", "()", "😀", "a:@a.", "...,", "''' "])
def test_tokens_of_100_000_characters_join_to_the_text(tokens_of, unit):
    """spaCy would need an hour."""
    text = hostile_text(unit, 100_000).strip()
    (tokens,) = tokens_of(make_tokenizer("spacy", False).tokenize(pa.array([text], pa.large_string())))
    assert "".join(tokens) == text.replace(" ", "")
