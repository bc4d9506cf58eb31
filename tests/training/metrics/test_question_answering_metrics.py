from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.metrics.question_answering import (
    best_threshold,
    exact_match,
    normalize,
    scores,
    scores_with_no_answers,
    token_f1,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Denver  Broncos!", "denver broncos"),
        ("an apple, a day", "apple day"),
        ("U.S.-led", "usled"),
        # Articles are removed as whole words only, after punctuation is removed.
        ("theatre and a-team", "theatre and ateam"),
        ("'The'", ""),
        # Only ASCII punctuation is removed.
        ("“quoted”", "“quoted”"),
        ("في دمشق، سوريا", "في دمشق، سوريا"),
        ("tab\there\u00a0now", "tab here now"),
        ("İstanbul", "i̇stanbul"),
    ],
)
def test_normalize(text, expected):
    assert normalize(text) == expected


def test_token_f1_compares_multisets():
    # Two of three predicted tokens are correct, and two of two gold tokens are found.
    assert token_f1("new new", "new new york") == pytest.approx(0.8)
    assert token_f1("new york", "new new new") == pytest.approx(2 * Fraction(1, 3) * Fraction(1, 2) / Fraction(5, 6))
    assert token_f1("york new", "new york") == 1
    assert exact_match("york new", "new york") == 0


def test_best_matching_gold_answer_counts():
    golds = [["Santa Clara, California", "Levi's Stadium", "Levi's Stadium in the Bay Area"]]
    assert scores(golds, ["levis stadium"]) == {"exact_match": 100.0, "f1": 100.0}
    assert scores(golds, ["California"]) == {"exact_match": 0.0, "f1": 50.0}


def test_answer_of_articles_only_differs_between_script_versions():
    assert scores([["a"]], ["The"]) == {"exact_match": 100.0, "f1": 0.0}
    figures = scores_with_no_answers([["a"]], ["The"], [-1.0], 0.0)
    assert figures["exact"] == figures["f1"] == figures["HasAns_f1"] == 100
    # If there is another gold answer, the one of articles only is ignored.
    assert scores_with_no_answers([["a", "cat"]], ["the"], [-1.0], 0.0)["exact"] == 0


def test_empty_prediction_is_wrong_if_question_has_answer():
    assert scores([["cat"], ["dog"]], ["", "dog"]) == {"exact_match": 50.0, "f1": 50.0}


def test_scores_with_and_without_answers():
    golds = [["the cat sat"], ["dog"], [], []]
    figures = scores_with_no_answers(golds, ["cat", "dog", "bird", ""], [-2.0, 3.0, -1.0, 5.0], 0.0)
    # The second question is unanswered because of its score, the third is answered wrongly, and the fourth is correctly
    # unanswered.
    assert figures == {
        "exact": 25.0,
        "f1": pytest.approx(100 * (2 / 3 + 1) / 4),
        "total": 4,
        "HasAns_exact": 0.0,
        "HasAns_f1": pytest.approx(100 / 3),
        "HasAns_total": 2,
        "NoAns_exact": 50.0,
        "NoAns_f1": 50.0,
        "NoAns_total": 2,
        # A threshold that answers the second question answers the third too, which is no better than answering none.
        "best_exact": 50.0,
        "best_exact_thresh": pytest.approx(-2.0),
        "best_f1": pytest.approx(100 * (2 / 3 + 2) / 4),
        "best_f1_thresh": -2.0,
    }


def test_empty_subsets_have_no_metrics():
    assert not {"HasAns_exact", "NoAns_exact"} <= set(scores_with_no_answers([["x"]], ["x"], [0.0], 0.0))
    assert "HasAns_total" not in scores_with_no_answers([[]], [""], [0.0], 0.0)


def test_different_numbers_of_predictions_and_questions_raise():
    with pytest.raises(ValueError, match="zip"):
        scores([["a"], ["b"]], ["a"])


answers = st.sampled_from(["", "the", "cat", "a cat", "cat sat", "dog", "dog dog cat", "قط", "«cat»"])
questions = st.lists(
    st.tuples(st.lists(answers.filter(bool), max_size=2), answers, st.integers(-3, 3).map(float)),
    min_size=1,
    max_size=8,
)


@given(questions)
def test_best_threshold_matches_exhaustive_search(asked):
    golds, texts, no_answer = (list(column) for column in zip(*asked, strict=True))
    tried = [
        scores_with_no_answers(golds, texts, no_answer, threshold) for threshold in (-4.0, *sorted(set(no_answer)))
    ]
    for name in ("exact", "f1"):
        assert tried[0][f"best_{name}"] == pytest.approx(max(figures[name] for figures in tried))
        # Applying the threshold gives the reported score.
        reached = scores_with_no_answers(golds, texts, no_answer, tried[0][f"best_{name}_thresh"])
        assert reached[name] == pytest.approx(tried[0][f"best_{name}"])


@given(questions)
def test_best_threshold_of_distinct_scores_matches_script(asked):
    """The reference visits questions by increasing no-answer score, as evaluate-v2.0 does."""
    has_answer = np.array([bool(golds) for golds, _, _ in asked])
    raw = np.where(has_answer, [len(text) % 3 / 2 for _, text, _ in asked], 0.0)
    probabilities = np.random.default_rng(len(asked)).permutation(len(asked)) / 10 + 0.05
    best = running = float((~has_answer).sum())
    threshold = 0.0
    for index in np.argsort(probabilities):
        running += raw[index] if has_answer[index] else -1
        if running > best:
            best, threshold = running, probabilities[index]
    assert best_threshold(raw, probabilities, has_answer) == pytest.approx((100 * best / len(asked), threshold))


def test_threshold_is_below_all_scores_if_answering_nothing_is_best():
    value, threshold = best_threshold(np.zeros(2), np.array([-7.0, -8.0]), np.array([True, False]))
    assert value == 50
    assert -8.001 < threshold < -8
