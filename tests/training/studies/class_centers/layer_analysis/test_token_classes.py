"""Class tokens, and the samples of each class."""

import numpy as np
import pytest

from bitcipher.errors import BitcipherError
from training.data.special_tokens import SpecialTokens
from training.studies.class_centers.layer_analysis.token_classes import frequent_tokens, samples_of

SPECIALS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=(5, 6))


def test_frequent_tokens_are_sorted_without_special_tokens():
    batches = [
        {"labels": np.array([[9, 9, 9, 2, 2, 2, 2], [0, 1, 3, 4, 5, 6, 8]])},
        {"labels": np.array([8, 7, 9, 11])},
    ]
    assert frequent_tokens(batches, 10, SPECIALS).tolist() == [9, 8, 7, 11]
    assert frequent_tokens(batches, 2, SPECIALS).tolist() == [9, 8]
    with pytest.raises(BitcipherError, match="fewer than two"):
        frequent_tokens([{"labels": np.array([9, 9, 2])}], 10, SPECIALS)


def test_samples_have_targets_among_class_tokens():
    tokens = np.array([9, 8, 7])
    offsets, classes = samples_of({"labels": np.array([[9, 1, 7], [20, 8, 9]])}, tokens)
    assert offsets.tolist() == [0, 2, 4, 5]
    assert classes.tolist() == [0, 2, 1, 0]
    masked = {"labels": np.array([7, 3, 9]), "positions": np.array([4, 10, 11])}
    offsets, classes = samples_of(masked, tokens)
    assert offsets.tolist() == [4, 11]
    assert classes.tolist() == [2, 0]
