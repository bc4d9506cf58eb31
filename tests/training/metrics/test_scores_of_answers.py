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
        # An article is a word of its own, also once punctuation is gone.
        ("theatre and a-team", "theatre and ateam"),
        ("'The'", ""),
        # Only ASCII's punctuation is punctuation.
        ("“quoted”", "“quoted”"),
        ("في دمشق، سوريا", "في دمشق، سوريا"),
        ("tab\there\u00a0now", "tab here now"),
        ("İstanbul", "i̇stanbul"),
    ],
)
def test_what_is_compared_of_a_text(text, expected):
    assert normalize(text) == expected


def test_repeated_tokens_count_as_often_as_in_both():
    # Two of three predicted tokens are right, and two of two are found.
    assert token_f1("new new", "new new york") == pytest.approx(0.8)
    assert token_f1("new york", "new new new") == pytest.approx(2 * Fraction(1, 3) * Fraction(1, 2) / Fraction(5, 6))
    assert token_f1("york new", "new york") == 1
    assert exact_match("york new", "new york") == 0


def test_the_best_fitting_gold_counts():
    golds = [["Santa Clara, California", "Levi's Stadium", "Levi's Stadium in the Bay Area"]]
    assert scores(golds, ["levis stadium"]) == {"exact_match": 100.0, "f1": 100.0}
    assert scores(golds, ["California"]) == {"exact_match": 0.0, "f1": 50.0}


def test_an_answer_of_articles_alone_differs_between_versions():
    assert scores([["a"]], ["The"]) == {"exact_match": 100.0, "f1": 0.0}
    figures = scores_with_no_answers([["a"]], ["The"], [-1.0], 0.0)
    assert figures["exact"] == figures["f1"] == figures["HasAns_f1"] == 100
    # Next to another answer it does not count any more.
    assert scores_with_no_answers([["a", "cat"]], ["the"], [-1.0], 0.0)["exact"] == 0


def test_nothing_predicted_is_wrong_where_there_is_an_answer():
    assert scores([["cat"], ["dog"]], ["", "dog"]) == {"exact_match": 50.0, "f1": 50.0}


def test_figures_with_and_without_answers():
    golds = [["the cat sat"], ["dog"], [], []]
    figures = scores_with_no_answers(golds, ["cat", "dog", "bird", ""], [-2.0, 3.0, -1.0, 5.0], 0.0)
    # The second is not answered for its score, the third is answered wrongly, the fourth rightly not.
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
        # To answer the second, the third must be answered too: no more than for answering none.
        "best_exact": 50.0,
        "best_exact_thresh": pytest.approx(-2.0),
        "best_f1": pytest.approx(100 * (2 / 3 + 2) / 4),
        "best_f1_thresh": -2.0,
    }


def test_parts_that_are_empty_have_no_figures():
    assert not {"HasAns_exact", "NoAns_exact"} <= set(scores_with_no_answers([["x"]], ["x"], [0.0], 0.0))
    assert "HasAns_total" not in scores_with_no_answers([[]], [""], [0.0], 0.0)


def test_predictions_and_questions_must_be_as_many():
    with pytest.raises(ValueError, match="zip"):
        scores([["a"], ["b"]], ["a"])


answers = st.sampled_from(["", "the", "cat", "a cat", "cat sat", "dog", "dog dog cat", "قط", "«cat»"])
questions = st.lists(
    st.tuples(st.lists(answers.filter(bool), max_size=2), answers, st.integers(-3, 3).map(float)),
    min_size=1,
    max_size=8,
)


@given(questions)
def test_the_best_threshold_is_found_by_trying_all(asked):
    golds, texts, no_answer = (list(column) for column in zip(*asked, strict=True))
    tried = [
        scores_with_no_answers(golds, texts, no_answer, threshold) for threshold in (-4.0, *sorted(set(no_answer)))
    ]
    for name in ("exact", "f1"):
        assert tried[0][f"best_{name}"] == pytest.approx(max(figures[name] for figures in tried))
        # What is promised is what that threshold gives.
        reached = scores_with_no_answers(golds, texts, no_answer, tried[0][f"best_{name}_thresh"])
        assert reached[name] == pytest.approx(tried[0][f"best_{name}"])


@given(questions)
def test_thresholds_of_distinct_probabilities_are_those_of_the_script(asked):
    """Going through questions from the most to the least likely answered, as evaluate-v2.0 goes through them."""
    has_answer = np.array([bool(golds) for golds, _, _ in asked])
    raw = np.where(has_answer, [len(text) % 3 / 2 for _, text, _ in asked], 0.0)
    probabilities = np.random.default_rng(len(asked)).permutation(len(asked)) / 10 + 0.05
    best = running = float((~has_answer).sum())
    threshold = 0.0
    for place in np.argsort(probabilities):
        running += raw[place] if has_answer[place] else -1
        if running > best:
            best, threshold = running, probabilities[place]
    assert best_threshold(raw, probabilities, has_answer) == pytest.approx((100 * best / len(asked), threshold))


def test_where_it_is_best_to_answer_nothing_the_threshold_is_below_all_scores():
    value, threshold = best_threshold(np.zeros(2), np.array([-7.0, -8.0]), np.array([True, False]))
    assert value == 50
    assert -8.001 < threshold < -8
