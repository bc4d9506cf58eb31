"""Line rule of C4: each condition by hand."""

import pytest

from pipelines.clean.base import Drop
from pipelines.clean.c4 import C4Rule
from pipelines.clean.document import Document


def clean_lines(text: str, **options: object) -> str:
    """Return the kept text without a minimum number of sentences, or the reason to drop it."""
    outcome = C4Rule(**({"min_sentences": 0} | options)).apply(Document(text, url="u"))
    if isinstance(outcome, Drop):
        return outcome.reason
    assert outcome.url == "u"
    return outcome.text


@pytest.mark.parametrize("end", [".", "?", "!", '"', "'"])
def test_lines_with_terminal_punctuation_are_kept(end: str):
    assert clean_lines(f"Menu of the page\n  This is prose{end} \n") == f"This is prose{end}"


@pytest.mark.parametrize("line", ["This is prose", "This is prose...", "This is prose:", "هذه جملة قصيرة؟"])
def test_other_lines_are_removed(line: str):
    assert clean_lines(line) == ""
    assert clean_lines(line, require_terminal_punctuation=False) == line


def test_short_lines_are_removed():
    assert clean_lines("Two words.\nThese are three.") == "These are three."
    assert clean_lines("Two words.\nOne.", min_words_per_line=2) == "Two words."


def test_lines_with_a_long_word_are_removed():
    assert clean_lines(f"A {'x' * 999}. is here.") == f"A {'x' * 999}. is here."
    assert clean_lines(f"A {'x' * 1000}. is here.") == ""
    assert clean_lines("one two threefour.\nA b c.", max_word_length=9) == "A b c."


@pytest.mark.parametrize(
    "phrase",
    [
        "JavaScript",
        "Terms of Use",
        "privacy policy",
        "cookie policy",
        "uses cookies",
        "use of cookies",
        "use cookies",
    ],
)
def test_lines_about_the_page_are_removed(phrase: str):
    assert clean_lines(f"This page {phrase} here.\nThis is prose.") == "This is prose."


def test_documents_with_placeholders_or_code_are_dropped():
    assert clean_lines("This is prose.\nThe Lorem Ipsum of it.") == "lorem ipsum"
    assert clean_lines("This is prose.\nThe { of it.") == "curly bracket"
    # Lines that are removed before do not count.
    assert clean_lines("This is prose.\nThe { of it") == "This is prose."


def test_citations_are_removed():
    text = "One[1] two[citation needed] three[]. [edit]\nFour [a] five [12]."
    # The first line ends with a space after the removal.
    assert clean_lines(text) == "Four [a] five ."
    assert clean_lines(text.replace(" [edit]", "[edit]")) == "One two three.\nFour [a] five ."
    assert clean_lines("One two three[1].", remove_citations=False) == "One two three[1]."


def test_the_minimum_number_of_sentences_is_that_of_kept_lines():
    text = "One is here. Two is here!\nThree is it?\nFour is here. Five is here."
    assert isinstance(C4Rule().apply(Document(text)), Document)
    assert C4Rule().apply(Document(text.replace("Three is it?", "Three?"))) == Drop("too few sentences")
    assert C4Rule(min_sentences=6).apply(Document(text)) == Drop("too few sentences")


def test_an_unchanged_document_is_the_same_object():
    document = Document("These are three.\nThese are three, too.")
    assert C4Rule(min_sentences=2).apply(document) is document
