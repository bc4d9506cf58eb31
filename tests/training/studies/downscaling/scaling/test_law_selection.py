import numpy as np
import pytest
from synthetic_laws import FLOPS, TRUTHS, noisy

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.law_selection import break_p_value, select_law
from training.studies.downscaling.scaling.power_law import BrokenPowerLaw, PowerLaw, fit_power_law

UNBROKEN = ["plain", "offset", "large offset"]
BROKEN = ["broken", "plateau", "broken with offset"]


def selected(name, noise, seeds):
    return [select_law(FLOPS, noisy(name, noise, seed)) for seed in seeds]


@pytest.mark.parametrize("name", UNBROKEN)
def test_exact_law_is_selected(name):
    truth = TRUTHS[name]
    law = select_law(FLOPS, truth.losses())
    assert isinstance(law, PowerLaw)
    assert law.exponent == pytest.approx(truth.exponents[0])
    assert law.offset == pytest.approx(truth.offset)


@pytest.mark.parametrize("name", BROKEN)
def test_break_is_selected(name):
    truth = TRUTHS[name]
    for law in selected(name, 0.003, range(2)):
        assert isinstance(law, BrokenPowerLaw)
        assert truth.break_at / 1.5 < law.break_at < truth.break_at * 1.5
        assert law.below.exponent == pytest.approx(truth.exponents[0], abs=0.02)
        assert law.above.exponent == pytest.approx(truth.exponents[1], abs=0.05)


@pytest.mark.parametrize("name", UNBROKEN)
def test_breaks_are_rarely_found_in_laws_without_one(name):
    # 0.05 is the level of the test. With this rate, 13 or more of 80 have a probability of 0.0003.
    assert sum(isinstance(law, BrokenPowerLaw) for law in selected(name, 0.01, range(80))) < 13


@pytest.mark.long
@pytest.mark.parametrize("name", UNBROKEN)
@pytest.mark.parametrize("additive", [False, True])
def test_rate_of_false_breaks_is_near_the_level(name, additive):
    p_values = []
    for seed in range(300):
        truth, relative = TRUTHS[name].losses(), noisy(name, 0.01, seed)
        y = truth + 4 * np.log(relative / truth) if additive else relative
        p_values.append(break_p_value(FLOPS, y, fit_power_law(FLOPS, y, offset=True)))
    # The standard error of the share is 0.013.
    assert 0.015 < np.mean(np.array(p_values) < 0.05) < 0.09
    assert np.mean(np.array(p_values) < 0.01) < 0.03


def test_order_and_units_do_not_matter():
    y = noisy("broken", 0.01, 0)
    law, reversed_law = select_law(FLOPS, y), select_law(FLOPS[::-1], y[::-1])
    assert law == reversed_law
    scaled = select_law(FLOPS / 1e15, y)
    assert scaled.break_at == pytest.approx(law.break_at / 1e15)
    assert scaled.above.exponent == pytest.approx(law.above.exponent)


def test_few_points_give_law_without_offset_and_break():
    for count in (3, 4, 5):
        law = select_law(FLOPS[:count], noisy("offset", 0.01, 0)[:count])
        assert law == fit_power_law(FLOPS[:count], noisy("offset", 0.01, 0)[:count])


def test_exact_step_has_a_break():
    law = select_law(FLOPS, np.where(FLOPS < 1e15, 4.0, 2.0))
    assert (law.below.at([1e14]), law.above.at([1e16])) == (pytest.approx([4]), pytest.approx([2]))


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_invalid_level_raises(level):
    with pytest.raises(BitcipherError, match="`level` must be between 0 and 1"):
        select_law(FLOPS, TRUTHS["plain"].losses(), level)
