import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.metrics.arabic_answers import normalize_arabic, sentence_match
from training.metrics.question_answering import normalize, scores


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("«المدينة المُنوّرة»،", "مدينة منورة"),
        ("مُحَمَّدٌ", "محمد"),
        ("الـكــتاب", "كتاب"),
        ("أحمد إبراهيم آدم ٱلنور", "احمد ابراهيم ادم نور"),
        ("ا\u0653دم ا\u0655براهيم", "ادم ابراهيم"),  # decomposed
        ("من أين؟ هنا؛ لا!", "من اين هنا لا"),
        # One letter is not a word after the article, and other words that begin with its letters are shortened, too.
        ("الف الى", "الف الى"),
        ("الذي", "ذي"),
        # Prepositions are not removed: ARCD counts "in Cairo" for "Cairo" as wrong.
        ("في القاهرة", "في قاهرة"),
        ("والقاهرة", "والقاهرة"),
        # Letters that differ in meaning stay.
        ("على علي مدرسة مدرسه", "على علي مدرسة مدرسه"),
        ("The U.S. في ٢٠١٧", "us في ٢٠١٧"),
        ("،", ""),
    ],
)
def test_normalize_arabic(text, expected):
    assert normalize_arabic(text) == expected


@given(st.text(st.characters(codec="utf-8", max_codepoint=0x7F)))
def test_ascii_answers_are_those_of_squad(text):
    assert normalize_arabic(text) == normalize(text)


def test_answers_match_as_arabic_only():
    golds = [["«المدينة المُنوّرة»"]]
    assert scores(golds, ["مدينة منورة،"], normalize_arabic) == {"exact_match": 100, "f1": 100}
    assert scores(golds, ["مدينة منورة،"]) == {"exact_match": 0, "f1": 0}
    half = scores([["محمد بن سلمان آل سعود"]], ["مُحَمَّد بن سلمان"], normalize_arabic)
    assert half == {"exact_match": 0, "f1": pytest.approx(75)}


def test_sentence_match():
    starts = [[0, 20, 40]] * 6
    golds = [[25], [25], [25], [0, 45], [], [20]]
    assert sentence_match(starts, golds, [20, 39, 19, 50, 3, None]) == pytest.approx(50)
    assert sentence_match([], [], []) == 0
