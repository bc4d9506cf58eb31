"""Quality rule of FineWeb: each threshold by hand."""

import pytest

from pipelines.clean.base import Drop
from pipelines.clean.document import Document
from pipelines.clean.fineweb import FineWebRule

OFF = {
    "min_punctuated_lines": 0.0,
    "max_short_lines": 1.0,
    "max_duplicate_characters": 1.0,
    "max_line_breaks_per_word": 1000.0,
}
SMALL = 1e-9


def outcome(text: str, **options: object) -> str:
    """Return the reason to drop a text, or "kept"."""
    document = Document(text)
    result = FineWebRule(**(OFF | options)).apply(document)
    assert isinstance(result, Drop) or result is document
    return result.reason if isinstance(result, Drop) else "kept"


@pytest.mark.parametrize(
    ("text", "option", "kept", "dropped", "reason"),
    [
        # Blank lines do not count, and white space at the end of a line does.
        ("a.\n \nb\nc. \n文。", "min_punctuated_lines", 2 / 4, 2 / 4 + SMALL, "lines without terminal punctuation"),
        ("هل هذا؟\nab", "min_punctuated_lines", 1 / 2, 1 / 2 + SMALL, "lines without terminal punctuation"),
        (f"{'a' * 30}\n{'b' * 31}\n\nc", "max_short_lines", 2 / 3, 2 / 3 - SMALL, "short lines"),
        ("aaa\nbb\naaa\n\naaa", "max_duplicate_characters", 6 / 11, 6 / 11 - SMALL, "characters in repeated lines"),
        ("a b\nc\n\nd", "max_line_breaks_per_word", 3 / 4, 3 / 4 - SMALL, "line breaks"),
    ],
)
def test_thresholds(text: str, option: str, kept: float, dropped: float, reason: str):
    assert outcome(text, **{option: kept}) == "kept"
    assert outcome(text, **{option: dropped}) == reason


@pytest.mark.parametrize("text", ["", "\n \n\t"])
def test_a_text_without_lines_is_dropped(text: str):
    assert outcome(text) == "empty"


def test_the_defaults_keep_prose_and_drop_menus():
    prose = "The cat sat on the mat all day. It was warm.\nA dog ran after it in the afternoon, as it always did."
    assert outcome(prose) == "kept"
    assert FineWebRule().apply(Document(prose)).__class__ is Document
    assert FineWebRule().apply(Document("Home\nAbout\nContact us")) == Drop("lines without terminal punctuation")
