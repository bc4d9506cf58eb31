"""Document filter, compared with a simple implementation."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.clean.segmentation import begins_lower, ends_sentence
from pipelines.clean.word_filter import extract_corpus_words
from training.studies.downscaling.filter.document_filter import MIN_SENTENCE_WORDS, DocumentFilter
from training.studies.downscaling.filter.document_splits import PARTS, part_of
from training.studies.downscaling.filter.lexicon import Lexicon
from training.studies.downscaling.filter.options import FilterOptions

WORDS = frozenset({"the", "cat", "dog", "well", "known", "dont", "قال", "القط"})
WRITTEN = ["the", "The", "cat", "dog.", "zebra", "Peter", "3", "--", "well-known", "don't", '"the!"', "'s", "\n\n"]
TEXTS = st.lists(st.sampled_from([*WRITTEN, "the", "cat.", "القط", "قال؟"]), min_size=1, max_size=60).map(" ".join)


def is_known(text):
    return all(word in WORDS for word in extract_corpus_words(text))


def is_long(text, min_words):
    return sum(bool(extract_corpus_words(word)) for word in text.split()) >= min_words


def plain_spans(document, options):
    words = document.split()
    starts = [start for start in range(0, len(words), options.stride) if start + options.span <= len(words)] or [0]
    spans = [" ".join(words[start : start + options.span]) for start in starts]
    return spans, [span for span in spans if is_known(span) and is_long(span, options.min_span_words)]


def plain_sentences(document):
    found = []
    for paragraph in document.split("\n\n"):
        words, sentence = paragraph.split(), []
        for index, word in enumerate(words):
            sentence.append(word)
            is_last = index + 1 == len(words)
            if is_last or (ends_sentence(word) and not begins_lower(words[index + 1])):
                found.append(sentence)
                sentence = []
    kept = [" ".join(sentence) for sentence in found]
    return found, [text.split() for text in kept if is_known(text) and is_long(text, MIN_SENTENCE_WORDS)]


def packed(sentences, options):
    """Return spans of whole sentences, and the number of words that are left over."""
    spans = [[]]
    for sentence in sentences:
        if spans[-1] and len(spans[-1]) + len(sentence) > options.span:
            spans.append([])
        spans[-1] += sentence
    left_over = len(spans.pop()) if len(spans[-1]) < options.min_span_words else 0
    return [" ".join(span) for span in spans], left_over


@given(st.lists(TEXTS, max_size=6), st.integers(1, 14), st.data())
def test_filter_matches_a_simple_implementation(documents, span, data):
    options = FilterOptions(span=span, stride=data.draw(st.integers(1, span)), held_out_share=0.4)
    document_filter = DocumentFilter(Lexicon(WORDS), options)
    kept = [each for document in documents for each in document_filter.filter(document)] + list(
        document_filter.finish()
    )
    examined = {"spans": 0, "sentences": 0}
    left_over = 0
    for part in PARTS:
        own = [document for document in documents if part_of(document, options.held_out_share) == part]
        spans = [plain_spans(document, options) for document in own]
        assert [each.text for each in kept if (each.part, each.level) == (part, "spans")] == [
            text for _, texts in spans for text in texts
        ]
        sentences = [plain_sentences(document) for document in own]
        expected, left = packed([sentence for _, texts in sentences for sentence in texts], options)
        assert [each.text for each in kept if (each.part, each.level) == (part, "sentences")] == expected
        examined["spans"] += sum(len(all_spans) for all_spans, _ in spans)
        examined["sentences"] += sum(len(all_sentences) for all_sentences, _ in sentences)
        left_over += left
    counts = document_filter.counts
    for level, number in examined.items():
        counted = counts[level]
        assert counted["examined"] == number == counted["kept"] + counted["unknown_words"] + counted["too_few_words"]
    texts = {level: [each.text for each in kept if each.level == level] for level in examined}
    assert counts["spans"]["kept"] == len(texts["spans"])
    assert counts["spans"]["words_kept"] == sum(len(text.split()) for text in texts["spans"])
    assert counts["sentences"]["spans"] == len(texts["sentences"])
    in_spans = sum(len(text.split()) for text in texts["sentences"])
    assert counts["sentences"]["words_kept"] == in_spans + left_over
    assert counts["sentences"]["words_left_over"] == left_over
    assert counts["words"] == sum(len(document.split()) for document in documents)
    unknown = [
        word for text in documents for written in text.split() for word in set(extract_corpus_words(written)) - WORDS
    ]
    assert document_filter.most_frequent_unknown(9) == {
        word: unknown.count(word) for word in sorted(set(unknown), key=ranked(unknown))
    }


def ranked(words):
    return lambda word: (-words.count(word), word)


def test_corpus_words_include_names_and_are_split_at_dashes():
    # GLUE differs: names are exempt there, and dashes do not separate words (Deshpande et al. 2023).
    assert extract_corpus_words("The cat--well, Peter's well-known cat—ran 3 times") == [
        *("the", "cat", "well", "peters", "well", "known", "cat", "ran", "times")
    ]


def kept_texts(document, **options):
    document_filter = DocumentFilter(Lexicon(WORDS), FilterOptions(held_out_share=0, **options))
    return [
        each.text for each in [*document_filter.filter(document), *document_filter.finish()]
    ], document_filter.counts


def test_tables_of_numbers_are_dropped():
    texts, counts = kept_texts("1 2 3 4 5 6 7 8 " * 20, span=10, stride=5)
    assert texts == []
    assert counts["spans"]["too_few_words"] == counts["spans"]["examined"] == 31


def test_document_shorter_than_a_span_needs_the_minimum_number_of_words():
    assert kept_texts("the cat " * 20 + "dog.", level="spans")[0] == [("the cat " * 20 + "dog.")]
    texts, counts = kept_texts("the cat " * 20, level="spans")
    assert texts == []
    assert counts["spans"] == {"examined": 1, "kept": 0, "unknown_words": 0, "too_few_words": 1, "words_kept": 0}


def test_long_sentences_are_not_split():
    long = "The cat " * 9 + "dog."
    assert kept_texts(f"The cat the cat dog. {long} The dog the dog dog.", level="sentences", span=12, stride=1)[0] == [
        *("The cat the cat dog.", long, "The dog the dog dog.")
    ]
