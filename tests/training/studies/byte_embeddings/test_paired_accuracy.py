"""Accuracy by batch, and paired t-tests."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from bitcipher.errors import BitcipherError
from training.studies.byte_embeddings.paired_accuracy import BatchAccuracy, paired_p_value


def accuracy(correct, total=(10, 20, 10)):
    return BatchAccuracy(np.array(correct, float), np.array(total, float))


def test_accuracy_is_that_of_all_predictions():
    assert accuracy([5, 20, 1]).accuracy == 65.0


def test_p_value_is_that_of_the_differences():
    first, second = accuracy([5, 12, 4]), accuracy([6, 18, 5])
    expected = ttest_1samp([-0.1, -0.3, -0.1], 0).pvalue
    assert paired_p_value(first, second) == pytest.approx(expected)
    assert paired_p_value(first, first) == 1


def test_one_batch_has_no_p_value():
    with pytest.raises(BitcipherError, match="two batches"):
        paired_p_value(accuracy([1], [2]), accuracy([1], [2]))
