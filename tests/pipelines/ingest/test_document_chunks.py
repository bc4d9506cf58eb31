import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.ingest.document_chunks import split_document
from pipelines.tokenizers import make_tokenizer
from pipelines.tokenizers.spacy_english import SpacyRule

# Words that spaCy's rules match across spaces, and other words, in several scripts and with various white space.
words = st.sampled_from(
    ["the", "shiftin'", "'em", ":", ")", "ma'am", "10", "km", "naïve", "قلب", "U.S.", "don't", "''"]
)
spaces = st.sampled_from([" ", " ", " ", "\n", "\r\n", "\t", "  ", "\u3000"])
texts = st.lists(st.tuples(words, spaces), max_size=60).map(lambda pairs: "".join(a + b for a, b in pairs))


@given(texts, st.integers(2, 40), st.integers(1, 50))
def test_pieces_put_together_are_the_document(text, limit, chunk):
    chunks = [text[start : start + chunk] for start in range(0, len(text), chunk)]
    pieces = list(split_document(chunks, limit))
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.continues for piece in pieces] == [True] * (len(pieces) - 1) + [False]


@given(texts, st.integers(20, 60))
def test_pieces_have_the_tokens_of_the_document(text, limit):
    rule = SpacyRule(lowercase=True)
    for place in [piece.text for piece in split_document([text], limit)][1:]:
        assert place[0].isspace()
    # spaCy's rules could match across a split between punctuation, but not between letters or at a line ending.
    assert not any(first[-1].isalpha() and second[0].isalpha() for first, second in rule.joins)


@settings(max_examples=25)  # each example creates a new spaCy pipeline
@given(st.lists(st.sampled_from(["some", "words", "don't", "U.S."]), min_size=1, max_size=200), st.integers(30, 60))
def test_lines_are_cut_without_a_trace(words, limit):
    text = "\n".join(" ".join(words[start : start + 5]) for start in range(0, len(words), 5))
    tokenizer = make_tokenizer("spacy-exact", lowercase=True)

    def tokens(texts):
        tokenized = tokenizer.tokenize(pa.array(texts, pa.large_string()))
        return tokenized.words.take(pa.array(tokenized.ids)).to_pylist()

    assert tokens([piece.text for piece in split_document([text], limit)]) == tokens([text])


def test_text_without_white_space_is_not_split():
    assert [piece.text for piece in split_document(["x" * 100], 10)] == ["x" * 100]


def test_a_very_long_document_takes_time_in_proportion():
    text = "word " * 2_000_000
    pieces = list(split_document([text]))
    assert sum(len(piece.text) for piece in pieces) == len(text)
    assert max(len(piece.text) for piece in pieces) <= 1 << 20
