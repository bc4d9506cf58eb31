import numpy as np

from training.data.counter_rng import derive_key, uniform


def test_row_depends_on_its_counter_only():
    whole = uniform(7, np.arange(100), 20)
    np.testing.assert_array_equal(uniform(7, np.array([93, 4]), 5), whole[[93, 4], :5])


def test_keys_give_different_numbers():
    keys = {derive_key(seed, purpose) for seed in range(50) for purpose in ("masks", "order")} | {
        derive_key("1", "masks")
    }
    assert len(keys) == 101
    assert max(keys) < 2**63


def test_numbers_are_uniform():
    numbers = uniform(derive_key(1, "masks"), np.arange(20_000), 16)
    assert 0 <= numbers.min() < numbers.max() < 1
    for counts in (np.histogram(numbers, 64)[0], np.histogram(numbers[:, 3], 64)[0], np.histogram(numbers[5000], 4)[0]):
        expected = counts.mean()
        # Chi-squared must be near its degrees of freedom.
        assert ((counts - expected) ** 2 / expected).sum() < 2 * len(counts)
    assert np.abs(np.corrcoef(numbers.T) - np.eye(16)).max() < 0.04
