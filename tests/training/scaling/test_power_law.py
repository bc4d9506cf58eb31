import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.scaling import bootstrap_exponent, fit_broken, fit_power_law

# Range of the paper's FLOPs: 10^13 to 10^17.
FLOPS = np.geomspace(1e13, 1e17, 40)


def noisy(seed: int, size: float = 0.05) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, size, len(FLOPS))
    return 400 * FLOPS**-0.14 * np.exp(noise)


@given(
    st.floats(1e-3, 1e3),
    st.floats(-2, 2),
    st.lists(st.integers(0, 72), min_size=3, max_size=20, unique=True),
)
def test_fit_recovers_power_law(coefficient, exponent, quarters):
    x = 10.0 ** (np.array(quarters) / 4)
    y = coefficient * x**exponent
    law = fit_power_law(x, y)
    assert law.exponent == pytest.approx(exponent, abs=1e-6)
    assert law.coefficient == pytest.approx(coefficient, rel=1e-4)
    assert law.at(x) == pytest.approx(y, rel=1e-6)


@given(st.integers(0, 1000))
def test_fit_minimizes_squared_error(seed):
    y = noisy(seed, 0.3)
    law = fit_power_law(FLOPS, y)

    def error(height, exponent):
        # The curve rotates around x = 10^15, so a small change of the exponent changes y only slightly.
        return np.square(y - height * law.at(FLOPS) * (FLOPS / 1e15) ** exponent).sum()

    least = error(1, 0)
    assert all(
        error(1 + shift, rotation) >= least
        for shift in (-1e-4, 0, 1e-4)
        for rotation in (-1e-4, 0, 1e-4)
        if (shift, rotation) != (0, 0)
    )
    assert law.r_squared == pytest.approx(1 - least / np.square(y - y.mean()).sum())


def test_r_squared():
    assert fit_power_law(FLOPS, 400 * FLOPS**-0.14).r_squared == pytest.approx(1)
    assert fit_power_law([1, 2, 3, 4], [1, 5, 5, 1]).r_squared == pytest.approx(0, abs=0.1)
    flat = fit_power_law([1, 2, 3], [5, 5, 5])
    assert (flat.coefficient, flat.exponent, flat.r_squared) == (pytest.approx(5), pytest.approx(0, abs=1e-9), 0)


def test_fit_broken_recovers_break():
    # The paper's exponents, and its break (section 5.1).
    y = np.where(FLOPS < 2.2e15, 80 * FLOPS**-0.0929, 400 * FLOPS**-0.1412)
    found = fit_broken(FLOPS[::-1], y[::-1])
    assert found.below.exponent == pytest.approx(-0.0929)
    assert found.above.exponent == pytest.approx(-0.1412)
    assert FLOPS[FLOPS < 2.2e15].max() < found.break_at < FLOPS[FLOPS > 2.2e15].min()
    assert found.below.r_squared == found.above.r_squared == pytest.approx(1)


@given(st.integers(0, 1000), st.integers(3, 6))
def test_break_minimizes_total_error(seed, min_points):
    rng = np.random.default_rng(seed)
    # Equal x must stay on one side.
    x = np.sort(rng.integers(1, 16, 16)).astype(float)
    y = rng.uniform(1, 3, 16)

    def error(side):
        return np.square(y[side] - fit_power_law(x[side], y[side]).at(x[side])).sum()

    errors = {
        index: error(slice(None, index)) + error(slice(index, None))
        for index in range(min_points, 17 - min_points)
        if x[0] < x[index - 1] < x[index] < x[-1]
    }
    best = min(errors, key=errors.get)
    found = fit_broken(x, y, min_points)
    assert found.break_at == pytest.approx(np.sqrt(x[best - 1] * x[best]))
    assert (found.below, found.above) == (fit_power_law(x[:best], y[:best]), fit_power_law(x[best:], y[best:]))


def test_bootstrap_interval_contains_exponent():
    y = noisy(0)
    low, high = bootstrap_exponent(FLOPS, y, samples=200)
    assert low < fit_power_law(FLOPS, y).exponent < high
    assert low < -0.14 < high
    assert 0.001 < high - low < 0.02
    assert bootstrap_exponent(FLOPS, y, samples=200) == (low, high)
    assert bootstrap_exponent(FLOPS, y, samples=200, seed=1) != (low, high)
    narrower = bootstrap_exponent(FLOPS, y, samples=200, confidence=0.5)
    assert low < narrower[0] < narrower[1] < high


def test_bootstrap_interval_of_exact_law_is_its_exponent():
    # Many samples of three points have only one distinct point.
    low, high = bootstrap_exponent([1e13, 1e14, 1e15], [4, 2, 1], samples=50)
    assert low == pytest.approx(high) == pytest.approx(-np.log10(2))


def test_invalid_points_raise():
    with pytest.raises(BitcipherError, match=r"There are 2 points, but at least 3 are needed; measure more\."):
        fit_power_law([1, 2], [1, 2])
    with pytest.raises(BitcipherError, match=r"Number 3 of the x is -1\.0, but must be above 0"):
        fit_power_law([1, 2, -1], [1, 2, 3])
    with pytest.raises(BitcipherError, match=r"Number 1 of the y is nan, but must be a finite number"):
        bootstrap_exponent([1, 2, 3], [float("nan"), 2, 3])
    with pytest.raises(BitcipherError, match=r"There are 3 x but 2 y; give both for every point\."):
        fit_power_law([1, 2, 3], [1, 2])
    with pytest.raises(BitcipherError, match=r"All 3 x are 2\.0; a power law needs at least two different values\."):
        fit_power_law([2, 2, 2], [1, 2, 3])
    with pytest.raises(BitcipherError, match=r"the coefficient exceeds the range of float64; give x in larger"):
        fit_power_law([1e15, 2e15, 4e15], [1, 1e10, 1e20])


def test_invalid_points_of_break_raise():
    with pytest.raises(BitcipherError, match=r"There are 7 points, but at least 8 are needed"):
        fit_broken(range(1, 8), range(1, 8))
    with pytest.raises(BitcipherError, match=r"There are too few different x for a break"):
        fit_broken([1] * 4 + [2] * 4, range(1, 9))
    with pytest.raises(BitcipherError, match=r"`min_points` must be at least 3, got 2\."):
        fit_broken(range(1, 8), range(1, 8), min_points=2)


@pytest.mark.parametrize("options", [{"samples": 0}, {"seed": -1}, {"confidence": 1.0}, {"confidence": 0.0}])
def test_invalid_bootstrap_options_raise(options):
    with pytest.raises(BitcipherError, match=r"A bootstrap needs at least 1 sample, a seed of at least 0"):
        bootstrap_exponent([1, 2, 3], [3, 2, 1], **options)
