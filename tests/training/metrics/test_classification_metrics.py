import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.metrics.classification import GLUE_METRICS, METRICS, compute_metrics, main_metric

labeled = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30)


@given(labeled)
def test_label_metrics_match_confusion_matrix(pairs):
    truth, predicted = np.array(pairs).T
    right, wrong, missed, found = (
        int(((truth == t) & (predicted == p)).sum()) for t, p in ((0, 0), (0, 1), (1, 0), (1, 1))
    )
    known = compute_metrics(("accuracy", "f1", "matthews"), truth, predicted)
    assert known["accuracy"] == pytest.approx(100 * (right + found) / len(truth))
    assert known["f1"] == pytest.approx(200 * found / max(2 * found + wrong + missed, 1))
    scale = np.sqrt(float((found + wrong) * (found + missed) * (right + wrong) * (right + missed)))
    assert known["matthews"] == pytest.approx(100 * (found * right - wrong * missed) / scale if scale else 0)


def test_correlations_of_example():
    truth = np.array([0.0, 1.0, 2.0, 3.0])
    known = compute_metrics(("pearson", "spearman"), truth, np.array([0.0, 1.0, 4.0, 9.0]))
    assert known["spearman"] == pytest.approx(100)
    assert known["pearson"] == pytest.approx(100 * 15 / np.sqrt(5 * 49))
    assert known["mean"] == pytest.approx((known["pearson"] + known["spearman"]) / 2)
    assert compute_metrics(("spearman",), truth, -truth) == {"spearman": pytest.approx(-100)}


@pytest.mark.parametrize("name", ["matthews", "pearson", "spearman"])
@pytest.mark.parametrize("predicted", [np.ones(4), np.zeros(4), np.full(4, 2.5)])
def test_constant_prediction_has_correlation_0_without_warning(name, predicted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert METRICS[name](np.array([0, 1, 1, 0]), predicted) == 0


def test_label_never_predicted_has_f1_0_without_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert METRICS["f1"](np.array([1, 1]), np.array([0, 0])) == 0
        assert METRICS["f1"](np.array([0, 0]), np.array([0, 0])) == 0


def test_nearly_constant_prediction_has_correlation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nearly_constant = 2.5 + np.array([0.0, 1.0, 2.0]) * 2.0**-50
        assert METRICS["pearson"](np.array([1.0, 2.0, 3.0]), nearly_constant) == pytest.approx(100)


def test_every_glue_task_has_metrics_and_main_metric():
    assert GLUE_METRICS["MRPC"] == ("accuracy", "f1")
    for names in GLUE_METRICS.values():
        assert main_metric(names) in compute_metrics(names, np.array([0, 1, 1]), np.array([0, 1, 0]))
