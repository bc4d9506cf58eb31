"""Quality rule of Gopher: each threshold by hand."""

import pytest

from pipelines.clean.base import Drop
from pipelines.clean.document import Document
from pipelines.clean.gopher_quality import GopherQualityRule

OFF = {
    "min_words": 0,
    "min_mean_word_length": 0.0,
    "max_mean_word_length": 1000.0,
    "max_symbols_per_word": 1000.0,
    "max_bullet_lines": 1.0,
    "max_ellipsis_lines": 1.0,
    "min_alphabetic_words": 0.0,
    "min_stop_words": 0,
}
SMALL = 1e-9


def outcome(text: str, **options: object) -> str:
    """Return the reason to drop a text, or "kept"."""
    document = Document(text)
    result = GopherQualityRule(**(OFF | options)).apply(document)
    assert isinstance(result, Drop) or result is document
    return result.reason if isinstance(result, Drop) else "kept"


@pytest.mark.parametrize(
    ("text", "option", "kept", "dropped", "reason"),
    [
        ("cat , dog .", "min_words", 2, 3, "too few words"),  # punctuation does not count
        ("cat , dog .", "max_words", 2, 1, "too many words"),
        ("a , bcde", "min_mean_word_length", 2.5, 2.5 + SMALL, "short words"),
        ("a , bcde", "max_mean_word_length", 2.5, 2.5 - SMALL, "long words"),
        ("a # b c", "max_symbols_per_word", 1 / 4, 1 / 4 - SMALL, "hash signs"),
        ("a … b ... c", "max_symbols_per_word", 2 / 5, 2 / 5 - SMALL, "ellipses"),
        ("- a\n • b\nc", "max_bullet_lines", 2 / 3, 2 / 3 - SMALL, "bullet lines"),
        ("a…\nb... \nc", "max_ellipsis_lines", 2 / 3, 2 / 3 - SMALL, "lines that end with an ellipsis"),
        ("a , 5 b", "min_alphabetic_words", 1 / 2, 1 / 2 + SMALL, "words without letters"),  # punctuation counts
        ("the cat the dog of The", "min_stop_words", 2, 3, "too few stop words"),
    ],
)
def test_thresholds(text: str, option: str, kept: float, dropped: float, reason: str):
    assert outcome(text, **{option: kept}) == "kept"
    assert outcome(text, **{option: dropped}) == reason


def test_defaults_are_those_of_the_paper():
    sentence = "The cat that we saw with the dog went to the end of the road. "
    assert isinstance(GopherQualityRule().apply(Document(sentence * 4)), Document)
    assert GopherQualityRule().apply(Document(sentence * 3)) == Drop("too few words")
    assert GopherQualityRule().apply(Document("cat dog bird fish " * 20)) == Drop("too few stop words")
    assert GopherQualityRule().apply(Document("the of " * 50_001)) == Drop("too many words")


def test_stop_words_of_another_language():
    text = "ذهب الولد إلى المدرسة في الصباح"
    assert outcome(text, min_stop_words=2) == "too few stop words"
    assert outcome(text, min_stop_words=2, stop_words=("في", "إلى", "من")) == "kept"


def test_an_empty_text_has_too_few_words():
    assert GopherQualityRule().apply(Document("")) == Drop("too few words")
    assert outcome("") == "kept"
