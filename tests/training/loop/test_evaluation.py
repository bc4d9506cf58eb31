import numpy as np

from training.loop.evaluation import evaluation_ids


def test_evaluated_examples_are_a_fixed_sample_of_all():
    ids = evaluation_ids(10_000, 500)
    assert len(set(ids)) == 500
    assert np.histogram(ids, bins=10, range=(0, 10_000))[0].min() > 25
    assert np.array_equal(ids, evaluation_ids(10_000, 500))
    assert set(evaluation_ids(30, 500)) == set(range(30))
