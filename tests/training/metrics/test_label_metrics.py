import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import classification_report

from training.metrics import label_metrics

TAGS = ["O", "I-PER", "B-PER", "I-LOC", "B-LOC"]
tagged = st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS), st.booleans()), max_size=12)


def spans_by_definition(tags, sentences):
    """Return the spans of IOB1 tags, by testing at each token whether a span begins there."""

    def begins(i):
        if tags[i] == "O":
            return False
        first = i == 0 or sentences[i - 1] != sentences[i]
        return first or tags[i].startswith("B-") or tags[i - 1] == "O" or tags[i - 1][2:] != tags[i][2:]

    found = []
    for i in filter(begins, range(len(tags))):
        j = i + 1
        while j < len(tags) and sentences[j] == sentences[i] and tags[j] != "O" and not begins(j):
            j += 1
        found.append((i, j - 1, tags[i][2:]))
    return found


@given(tagged)
def test_spans_match_definition_of_iob1(tokens):
    tags = [tag for tag, _, _ in tokens]
    sentences = np.cumsum([new for _, _, new in tokens]).tolist()
    assert label_metrics.spans(tags, sentences) == spans_by_definition(tags, sentences)


def test_span_f1_of_example():
    tags = ["I-PER", "I-PER", "O", "I-LOC", "B-LOC", "I-LOC", "I-PER", "I-PER"]
    sentences = [0, 0, 0, 0, 0, 0, 0, 1]
    expected = [(0, 1, "PER"), (3, 3, "LOC"), (4, 5, "LOC"), (6, 6, "PER"), (7, 7, "PER")]
    assert label_metrics.spans(tags, sentences) == expected
    predicted = ["I-PER", "I-PER", "O", "I-LOC", "I-LOC", "I-LOC", "O", "I-PER"]
    # Three spans are predicted (0-1, 3-5, 7), two of them are correct, and there are five true spans.
    assert label_metrics.span_f1(tags, predicted, sentences) == pytest.approx(2 * 2 / (5 + 3))
    assert label_metrics.span_f1(["O"], ["O"], [0]) == 0.0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_accuracy_and_weighted_f1_match_scikit_learn(tokens):
    truth, predicted = np.array(tokens).T
    report = classification_report(truth, predicted, output_dict=True, zero_division=0)
    assert label_metrics.accuracy(truth, predicted) == pytest.approx(np.mean(truth == predicted))
    assert label_metrics.weighted_f1(truth, predicted) == pytest.approx(report["weighted avg"]["f1-score"])
