import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.power_law import BrokenPowerLaw, PowerLaw, fit_broken, fit_power_law

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


@given(st.floats(0.5, 4), st.floats(1, 8), st.floats(-1, -0.1), st.floats(1e-3, 1e20))
def test_fit_recovers_offset(offset, size, exponent, unit):
    x = unit * np.geomspace(1, 1e4, 20)
    y = offset + size * (x / unit) ** exponent
    law = fit_power_law(x, y, offset=True)
    assert law.offset == pytest.approx(offset, rel=1e-4)
    assert law.exponent == pytest.approx(exponent, rel=1e-4)
    assert law.at(x) == pytest.approx(y, rel=1e-6)


def test_law_with_offset_is_not_fitted_as_flat_law_with_break():
    # Without an offset, the exponent would be -0.06 with an R² of 0.96, and a break would fit better.
    x = np.geomspace(1e13, 1e17, 30)
    y = 2 + 1.5 * (x / 1e13) ** -0.2
    assert fit_power_law(x, y).exponent > -0.1
    assert fit_power_law(x, y, offset=True).exponent == pytest.approx(-0.2)


@given(st.integers(0, 1000))
def test_offset_is_zero_if_it_does_not_lower_the_error(seed):
    y = np.exp(-np.square(np.linspace(0, 1, 40))) * noisy(seed, 0.01)  # falls faster than a power law
    assert fit_power_law(FLOPS, y, offset=True) == fit_power_law(FLOPS, y)


def test_fit_broken_recovers_offset():
    u = FLOPS / 1e13
    y = 1.5 + np.where(u < 100, 6 * u**-0.02, 17 * u**-0.25)
    found = fit_broken(FLOPS, y, offset=True)
    assert found.below.offset == found.above.offset == pytest.approx(1.5)
    assert (found.below.exponent, found.above.exponent) == (pytest.approx(-0.02), pytest.approx(-0.25))
    assert found.at(FLOPS) == pytest.approx(y)


def test_laws_have_values():
    below, above = PowerLaw(2.0, 1.0, 1.0, offset=1.0), PowerLaw(4.0, -1.0, 1.0, offset=1.0)
    assert below.at([1, 2]) == pytest.approx([3, 5])
    assert BrokenPowerLaw(3.0, below, above).at([2, 4]) == pytest.approx([5, 2])


def test_invalid_points_raise():
    with pytest.raises(BitcipherError, match=r"There are 2 points, but at least 3 are needed; measure more\."):
        fit_power_law([1, 2], [1, 2])
    with pytest.raises(BitcipherError, match=r"Number 3 of the x is -1\.0, but must be above 0"):
        fit_power_law([1, 2, -1], [1, 2, 3])
    with pytest.raises(BitcipherError, match=r"Number 1 of the y is nan, but must be a finite number"):
        fit_power_law([1, 2, 3], [float("nan"), 2, 3])
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
