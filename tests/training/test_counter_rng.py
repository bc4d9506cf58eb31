import numpy as np

from training.counter_rng import key_of, uniforms


def test_a_row_does_not_depend_on_its_company():
    whole = uniforms(7, np.arange(100), 20)
    np.testing.assert_array_equal(uniforms(7, np.array([93, 4]), 5), whole[[93, 4], :5])


def test_keys_of_other_parts_are_other_numbers():
    keys = {key_of(seed, purpose) for seed in range(50) for purpose in ("masks", "order")} | {key_of("1", "masks")}
    assert len(keys) == 101
    assert max(keys) < 2**63


def test_the_numbers_are_spread_evenly_over_rows_and_columns():
    numbers = uniforms(key_of(1, "masks"), np.arange(20_000), 16)
    assert 0 <= numbers.min() < numbers.max() < 1
    for counts in (np.histogram(numbers, 64)[0], np.histogram(numbers[:, 3], 64)[0], np.histogram(numbers[5000], 4)[0]):
        expected = counts.mean()
        # Chi-squared stays near its degrees of freedom.
        assert ((counts - expected) ** 2 / expected).sum() < 2 * len(counts)
    assert np.abs(np.corrcoef(numbers.T) - np.eye(16)).max() < 0.04
