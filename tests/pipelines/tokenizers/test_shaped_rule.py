"""Tokens of chunks by their shapes, compared with those of the same rule for each chunk."""

import numpy as np
import pyarrow as pa
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.lang.en import English

from pipelines.tokenizers import shaped_rule
from pipelines.tokenizers.chunk_tokenizer import ChunkTokens
from pipelines.tokenizers.shaped_rule import ShapedRule
from pipelines.tokenizers.spacy_english import SpacyRule, make_spacy_rule

WORDS = (
    "word Word WORD garden Berlin NASA iPhone McDonald cannot gonna mbar km http https www com org qqqq Qqqq QQQQ qQQq "
    "dont Dont DONT wont Cause hasnt therell theyll Nuff coulda naïve Zürich ΟΔΟΣ b C "
    "cat Cat CAT cAT of Of OF oF qq Qq QQ qqq Qqq QQQ am PM US kg ft hPa MB µm Dr Mr St Ph café É ß İ ς ﬁ ５"
).split()
MARKS = [*".,;:!?\"'()[]{}<>-/@#$%^&*_+=~|\\`‘’“”…€£°—–«»", "--", "...", "'s", "'S", "’s", "n't", "n’t", "://", "US$"]
MARKS += ["..", "'.", ".”", ",”", "’”", "……", "——", "°C", "°F."]
NUMBERS = "127 192.168.0.1 10.0.0.1 255.255.255.0 172.16 169.254 10a.m 11pm 3.14 1,234 <33 <333 :33 :8080 :123456"
CASES = [case for case in English.Defaults.tokenizer_exceptions if not any(map(str.isspace, case))]
pieces = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(MARKS),
    st.sampled_from(CASES),
    st.sampled_from(NUMBERS.split()),
    st.integers(0, 9999).map(str),
)
chunks = st.lists(pieces, min_size=1, max_size=6).map("".join)


def tokens_of(result):
    """Return the tokens of each chunk."""
    words = result.words.to_pylist()
    ends = np.cumsum(result.sizes)
    return [words[end - size : end] for end, size in zip(ends, result.sizes, strict=True)]


def check(texts):
    """Compare the tokens of chunks with those of spaCy's rules for each chunk."""
    expected = tokens_of(SpacyRule()(pa.array(texts, pa.large_string())))
    for lowercase in (False, True):
        # In slices, so that the second has known and new shapes.
        rule, half = make_spacy_rule(lowercase), len(texts) // 2
        array = pa.array(texts, pa.large_string())
        tokens = tokens_of(rule(array.slice(0, half))) + tokens_of(rule(array.slice(half)))
        for text, of_shape, of_chunk in zip(texts, tokens, expected, strict=True):
            assert of_shape == [token.lower() if lowercase else token for token in of_chunk], text


@pytest.mark.long
@settings(max_examples=20, deadline=None)  # each example makes five spaCy tokenizers
@given(st.lists(chunks, min_size=1, max_size=200, unique=True))
def test_tokens_equal_those_of_the_rule_for_each_chunk(texts):
    check(texts)


@pytest.mark.slow
def test_tokens_of_many_chunks_equal_those_of_the_rule():
    random = np.random.default_rng(11)
    parts = np.array([*WORDS * 3, *MARKS * 5, *CASES, *NUMBERS.split(), *map(str, range(100))], object)
    texts = {"".join(random.choice(parts, random.integers(1, 7))) for _ in range(250_000)}
    assert len(texts) > 200_000
    check(sorted(texts))


def test_tokens_equal_those_of_spacy():
    texts = ['"Garden,', "kitchen-garden's", "WORLDWIDE.", "gonna", "10mbar", "10millibar", "Example.com", "it's)"]
    nlp = spacy.blank("en")
    expected = [[token.text for token in nlp(text)] for text in texts]
    assert tokens_of(make_spacy_rule(False)(pa.array(texts, pa.large_string()))) == expected
    assert ["10", "mbar"] in expected
    assert ["10millibar"] in expected


class RecordingRule:
    """Rule that divides chunks before each comma, and records them."""

    joins: frozenset[tuple[str, str]] = frozenset()

    def __init__(self):
        self.seen: list[str] = []

    def __call__(self, chunks):
        self.seen += chunks.to_pylist()
        parts = [chunk.replace(",", "\n,").split("\n") for chunk in chunks.to_pylist()]
        words = pa.array([part for each in parts for part in each], pa.large_string())
        return ChunkTokens(words, np.array([len(each) for each in parts], np.int64))


def test_the_rule_is_applied_once_to_each_shape(monkeypatch):
    rule = RecordingRule()
    shaped = ShapedRule(rule, lowercase=True, reserved=["Gonna|mbar", "33"])
    texts = ["Garden,", "Kitchen,", "gonna,", "mBar,", "cat,", "dog,", "of,", "naïveté,", "NAÏVETÉ,", "long" * 20 + ","]
    expected = [[text.lower().removesuffix(","), ","] for text in texts]
    for _ in range(2):
        assert tokens_of(shaped(pa.array(texts, pa.large_string()))) == expected
    others = ["long" * 20 + ","]  # its shape is not known, so the rule is applied again
    assert rule.seen == ["Qqqq,", "gonna,", "mBar,", "qqq,", "qq,", "qqïqqqé,", "QQÏQQQÉ,", *others, *others]
    monkeypatch.setattr(shaped_rule, "MAX_SHAPES", 4)  # shapes are forgotten
    assert tokens_of(shaped(pa.array(texts, pa.large_string()))) == expected
    assert rule.seen.count("Qqqq,") == 2


@pytest.mark.parametrize(
    ("texts", "shapes"),
    [
        (["7,", "12,", "45,", "33,", "1887,", "123456789,"], ["7,", "99,", "33,", "9999,", "999999,"]),
        (["1.5,", "255.1,", "1887.2,", "1990.3,"], ["1.5,", "255.1,", "9999.2,", "9999.3,"]),
        (["“Garden,”", "“Kitchen,”", "it’s,", "we…", "us—"], ["“Qqqq,”", "qq’s,", "qq…", "qq—"]),
    ],
)
def test_numbers_and_typographic_marks_have_shapes(texts, shapes):
    rule = RecordingRule()
    shaped = ShapedRule(rule, lowercase=False, reserved=["33"])
    expected = [text.replace(",", "\n,").split("\n") for text in texts]
    assert tokens_of(shaped(pa.array(texts, pa.large_string()))) == expected
    assert rule.seen == shapes


def test_rules_that_divide_words_are_refused():
    class Halving(RecordingRule):
        def __call__(self, chunks):
            words = [part for chunk in chunks.to_pylist() for part in (chunk[:2], chunk[2:])]
            return ChunkTokens(pa.array(words, pa.large_string()), np.full(len(chunks), 2))

    with pytest.raises(AssertionError, match="divides a word"):
        ShapedRule(Halving(), lowercase=False, reserved=[])(pa.array(["garden"], pa.large_string()))
