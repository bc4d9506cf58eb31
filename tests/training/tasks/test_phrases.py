from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from training.tasks.phrases import find_phrases, frequent_words, split_words

FREQUENT = frozenset({"a", "in", "of", "the", "new", "was"})


def phrases(sentence, frequent=FREQUENT):
    words = split_words(sentence)
    return [
        (sentence[words[phrase.first].start : words[phrase.last].end], phrase.kind)
        for phrase in find_phrases(words, frequent)
    ]


def test_words_have_no_punctuation():
    text = '  He said: "No — (never)..." in U.S. cities'
    words = split_words(text)
    assert [word.text for word in words] == ["He", "said", "No", "never", "in", "U.S", "cities"]
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    assert [word.text for word in words if word.breaks_before] == ["No", "never"]
    assert [word.text for word in words if word.breaks_after] == ["said", "never", "U.S"]
    assert [word.text for word in split_words(text, 6, 13)] == ["aid", "N"]
    assert [word.text for word in split_words("«بيتٌ»، हिन्दी।")] == ["بيتٌ", "हिन्दी"]


def test_phrases_lie_between_frequent_words_and_punctuation():
    assert phrases("Ada became a fellow of the Royal Society in 1672, in New York.") == [
        ("fellow", "other"),
        ("Royal Society", "name"),
        ("1672", "year"),
        ("New York", "name"),
    ]
    assert phrases("The bridge was 12 metres long") == [("bridge", "other"), ("12 metres long", "number")]


def test_phrases_without_frequent_word_before_need_capital_or_digit():
    assert phrases("the old bridge, quickly built, fell") == [("old bridge", "other")]
    assert phrases("Quickly built") == []
    assert phrases("quickly Peter built") == [("quickly Peter built", "name")]


def test_long_runs_are_no_phrases():
    assert phrases("the one two three four five") == [("one two three four five", "other")]
    assert phrases("the one two three four five six") == []


def test_arabic_phrases():
    assert phrases("ولد في القاهرة عام ١٩٥٢", frozenset({"في", "عام"})) == [("القاهرة", "other"), ("١٩٥٢", "year")]


def test_frequent_words_are_lowercase_and_without_digits():
    assert frequent_words(["The cat the 2018 2018 2018"]) == {"the", "cat"}
    assert frequent_words(["one two", "three four"], max_words=3) == {"one", "two", "three"}
    assert len(frequent_words([" ".join(f"{a}{b}" for a in "abcdefghijkl" for b in "abcdefghijkl")])) == 100


@given(
    st.lists(st.sampled_from(["the", "of", "Rome", "river", "1672", "old", ",", "(great)", "New", "—"]), max_size=30)
)
def test_phrases_are_disjoint_and_contain_no_frequent_word(parts):
    words = split_words(" ".join(parts))
    found = find_phrases(words, FREQUENT)
    assert all(before.last < after.first for before, after in pairwise(found))
    for phrase in found:
        run = words[phrase.first : phrase.last + 1]
        assert not {word.text for word in run} & FREQUENT
        assert not any(word.breaks_before for word in run[1:])
        assert not any(word.breaks_after for word in run[:-1])
