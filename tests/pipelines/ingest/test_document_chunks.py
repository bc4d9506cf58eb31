import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.ingest.document_chunks import split_document
from pipelines.tokenizers.registry import make_tokenizer
from pipelines.tokenizers.spacy_english import SpacyRule

# Words that spaCy's rules match across spaces, and other words in several scripts.
words = st.sampled_from(
    ["the", "shiftin'", "'em", ":", ")", "ma'am", "10", "km", "naïve", "قلب", "U.S.", "don't", "''"]
)
spaces = st.sampled_from([" ", " ", " ", "\n", "\r\n", "\t", "  ", "\u3000"])
texts = st.lists(st.tuples(words, spaces), max_size=60).map(lambda pairs: "".join(a + b for a, b in pairs))


@given(texts, st.integers(2, 40), st.integers(1, 50))
def test_joined_chunks_are_the_document(text, limit, size):
    strings = [text[start : start + size] for start in range(0, len(text), size)]
    chunks = list(split_document(strings, limit))
    assert "".join(chunk.text for chunk in chunks) == text
    assert [chunk.continues for chunk in chunks] == [True] * (len(chunks) - 1) + [False]


@given(texts, st.integers(20, 60))
def test_chunks_begin_at_white_space_that_spacy_rules_do_not_cross(text, limit):
    rule = SpacyRule()
    for chunk in list(split_document([text], limit))[1:]:
        assert chunk.text[0].isspace()
    # spaCy's rules could match across a split between punctuation, but not between letters or at a line ending.
    assert not any(first[-1].isalpha() and second[0].isalpha() for first, second in rule.joins)


@pytest.mark.long
@settings(max_examples=25)  # each example creates a new spaCy pipeline
@given(st.lists(st.sampled_from(["some", "words", "don't", "U.S."]), min_size=1, max_size=200), st.integers(30, 60))
def test_split_at_lines_does_not_change_the_tokens(words, limit):
    text = "\n".join(" ".join(words[start : start + 5]) for start in range(0, len(words), 5))
    tokenizer = make_tokenizer("spacy-exact", lowercase=True)

    def tokens(texts):
        tokenized = tokenizer.tokenize(pa.array(texts, pa.large_string()))
        return tokenized.words.take(pa.array(tokenized.ids)).to_pylist()

    assert tokens([chunk.text for chunk in split_document([text], limit)]) == tokens([text])


def test_text_without_white_space_is_not_split():
    assert [chunk.text for chunk in split_document(["x" * 100], 10)] == ["x" * 100]


@given(st.text("ab 北\n\t", max_size=200), st.integers(2, 9), st.integers(1, 50))
def test_steps_do_not_change_the_splits(text, limit, size):
    """A text in one string is also processed in steps, of the limit; here, the steps are those of the strings."""
    strings = [text[start : start + limit] for start in range(0, len(text), limit)]
    assert list(split_document(strings, limit)) == list(split_document([text], limit))
    assert "".join(chunk.text for chunk in split_document([text[:size], text[size:]], limit)) == text


@pytest.mark.parametrize("word", ["x", "北"])
def test_very_long_word_is_searched_once(word):
    """If each step searched the whole word again, this would take minutes."""
    text = word * (1 << 25) + " end"
    assert [len(chunk.text) for chunk in split_document([text], 1 << 15)] == [1 << 25, 4]


def test_very_long_document_is_split_in_linear_time():
    text = "word " * 2_000_000
    chunks = list(split_document([text]))
    assert sum(len(chunk.text) for chunk in chunks) == len(text)
    assert max(len(chunk.text) for chunk in chunks) <= 1 << 20
