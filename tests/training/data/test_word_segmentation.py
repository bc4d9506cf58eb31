"""Segmentation of Arabic words: golden forms, exact restoration, and tokens whose offsets are those of the text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.data.tokenizer_options import TokenizerOptions
from training.data.train_tokenizer import train_tokenizer
from training.data.word_segmentation import MARK, word_segmentation

ARABIC = word_segmentation("arabic")
LETTERS = "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىأإآؤئء"
MARKS = "\u064b\u064e\u064f\u0650\u0651\u0652\u0670\u0640"
PREFIXES = ("", "و", "ف", "ب", "ك", "ل", "س", "ال", "وال", "وبال", "فلل", "وسي")
SUFFIXES = ("", "ها", "هما", "ه", "هم", "نا", "ة", "ات", "ون", "ين", "اتها", "ين،", "ة.", "،", ".")

arabic_words = st.builds(
    lambda prefix, stem, suffix: prefix + stem + suffix,
    st.sampled_from(PREFIXES),
    st.text(LETTERS + MARKS, min_size=1, max_size=7),
    st.sampled_from(SUFFIXES),
)
words = st.one_of(arabic_words, st.text(LETTERS + MARKS + "abcé+＋«»()،؟.1٣ \u200f\n\U0001f600", max_size=12))
texts = st.lists(words, max_size=12).map(" ".join)


@pytest.mark.parametrize(
    ("text", "segmented"),
    [
        ("وكتابها في المدرسة", "و＋ كتاب ＋ها في ال＋ مدرس ＋ة"),
        ("كتاباتها وللمعلمين", "كتاب ＋ات ＋ها و＋ ل＋ ل＋ معلم ＋ين"),
        ("وبالحكومة، فالرجل سيكتب", "و＋ ب＋ ال＋ حكوم ＋ة، ف＋ ال＋ رجل س＋ يكتب"),
        # Diacritics and tatweel are no letters, and stay where they are.
        ("وَالمَدْرَسَةُ", "وَ＋ ال＋ مَدْرَسَ ＋ةُ"),
        ("الـكتـاب", "الـ＋ كتـاب"),
        # Too few letters would remain.
        ("وجد بيت كان قانون له", "وجد بيت كان قانون له"),
        ("الذي التي الله والله الآن", "الذي التي الله و＋ الله الآن"),
        ("«المسلمون» (العرب)", "«ال＋ مسلم ＋ون» (ال＋ عرب)"),
        ("the state, 5 + 3 ٣٤", "the state, 5 + 3 ٣٤"),
        ("", ""),
    ],
)
def test_segments(text, segmented):
    assert ARABIC.segment(text) == segmented
    assert ARABIC.restore(segmented) == text


@given(texts)
def test_restore_inverts_segment(text):
    assert ARABIC.restore(ARABIC.segment(text)) == text.replace(MARK, "+")


@given(texts)
def test_segmentation_only_adds_marks_and_spaces(text):
    text = text.replace(MARK, "+")
    segmented = ARABIC.segment(text)
    assert segmented.replace(MARK, "").replace(" ", "") == text.replace(" ", "")
    # A word has the same segments everywhere.
    assert segmented == " ".join(ARABIC.segment(word) for word in text.split(" "))


@given(st.text(st.characters(codec="utf-8", exclude_characters=MARK)))
def test_text_without_arabic_letters_stays(text):
    other = "".join(letter for letter in text if not "\u0600" <= letter <= "\u06ff")
    assert ARABIC.segment(other) == other


@pytest.fixture(scope="module")
def tokenizer():
    stems = ("كتاب", "مدرس", "رجل", "حكوم", "معلم", "بيت", "لغ", "قلم")
    forms = [prefix + stem + suffix for prefix in PREFIXES for stem in stems for suffix in SUFFIXES]
    # Every letter occurs often enough to have a token.
    return train_tokenizer(forms + [" ".join(LETTERS + "abc+()«»،.1٣")] * 40, "unigram", 300, segmentation="arabic")


@settings(max_examples=200)
@given(text=st.lists(arabic_words, min_size=1, max_size=8).map(lambda words: " ".join(words)))
def test_tokens_have_the_offsets_of_the_text(tokenizer, text):
    letters = "".join(letter for letter in text if letter not in MARKS)
    encoding = plain_text_tokenizer(tokenizer).encode(letters)
    assert special_tokens(tokenizer).unknown not in encoding.ids
    # The offsets of consecutive tokens neither overlap nor leave out a letter, wherever a mark is.
    spans = [span for token, span in zip(encoding.tokens, encoding.offsets, strict=True) if token != "▁"]
    assert "".join(letters[start:end] for start, end in spans) == letters.replace(" ", "")
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        if token != "▁":
            assert token.replace("▁", "").replace(MARK, "") == letters[start:end]
    assert tokenizer.decode(encoding.ids) == letters


def test_stem_has_the_same_token_with_and_without_affixes(tokenizer):
    assert tokenizer.encode("كتاب").tokens == ["▁كتاب"]
    assert tokenizer.encode("وبالكتاب").tokens == [f"▁و{MARK}", f"▁ب{MARK}", f"▁ال{MARK}", "▁كتاب"]
    assert tokenizer.encode("كتابها").tokens == ["▁كتاب", f"▁{MARK}ها"]
    assert tokenizer.encode("(الكتاب").tokens[-2:] == [f"ال{MARK}", "▁كتاب"]


def test_stored_tokenizer_segments(tokenizer):
    stored = Tokenizer.from_str(tokenizer.to_str())
    assert stored.encode("وكتابها، 1 + 1").ids == tokenizer.encode("وكتابها، 1 + 1").ids
    assert stored.decode(stored.encode("وكتابها، 1 + 1").ids) == "وكتابها، 1 + 1"


def test_marks_without_a_stem_are_not_decoded(tokenizer):
    names = [f"▁{MARK}ها", f"▁ال{MARK}", f"▁و{MARK}", f"▁{MARK}ها", "▁كتاب", f"▁ال{MARK}"]
    assert MARK not in tokenizer.decode([tokenizer.token_to_id(name) for name in names])


def test_training_is_deterministic(tokenizer):
    again = train_tokenizer(["وكتابها في المدرسة"] * 9, "unigram", 60, segmentation="arabic").to_str()
    assert train_tokenizer(["وكتابها في المدرسة"] * 9, "unigram", 60, segmentation="arabic").to_str() == again


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"segmentation": "arabic"}, "`segmentation` needs `kind` to be unigram, got bpe"),
        ({"kind": "unigram", "segmentation": "persian"}, "`segmentation` must be arabic, got 'persian'"),
    ],
)
def test_invalid_options_raise(options, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        TokenizerOptions.parse(options, "The recipe")


def test_invalid_arguments_raise():
    with pytest.raises(BitcipherError, match="`segmentation` must be one of arabic, got 'persian'"):
        word_segmentation("persian")
    with pytest.raises(BitcipherError, match="`segmentation` needs a tokenizer of kind unigram, got bpe"):
        train_tokenizer(["a"], "bpe", 300, segmentation="arabic")
