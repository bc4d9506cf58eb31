from itertools import product

import numpy as np
import pytest
from synthetic_laws import FLOPS, TRUTHS, noisy

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.bootstrap import bootstrap_law
from training.studies.downscaling.scaling.power_law import PowerLaw, fit_broken, fit_power_law


def coverage(name, noise, seeds, samples):
    """Return the shares of intervals (of exponents, then of the offset) that contain the true parameters of a law."""
    truth = TRUTHS[name]
    hits = []
    for seed in seeds:
        y = noisy(name, noise, seed)
        law = (fit_broken if truth.break_at else fit_power_law)(FLOPS, y, offset=truth.offset > 0)
        found = bootstrap_law(FLOPS, y, law, samples)
        bounds = [*found.exponents, *([found.offset] if found.offset else [])]
        parameters = [*truth.exponents, truth.offset]
        hits.append([low <= value <= high for (low, high), value in zip(bounds, parameters, strict=False)])
    return np.mean(hits, axis=0)


@pytest.mark.parametrize("name", ["plain", "offset", "broken"])
def test_intervals_contain_parameters(name):
    assert (coverage(name, 0.01, range(20), 60) >= 0.75).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "noise"),
    [*product(("plain", "offset", "large offset", "broken"), (0.003, 0.02)), ("broken with offset", 0.003)],
)
def test_coverage_is_near_the_nominal_level(name, noise):
    # The standard error of a share of 0.9 over 100 seeds is 0.03.
    assert (coverage(name, noise, range(100), 200) >= 0.84).all()


def test_interval_is_deterministic_and_narrower_at_lower_confidence():
    y = noisy("plain", 0.02, 0)
    law = fit_power_law(FLOPS, y)
    [(low, high)] = bootstrap_law(FLOPS, y, law, 200).exponents
    assert low < law.exponent < high
    assert bootstrap_law(FLOPS, y, law, 200).exponents == ((low, high),)
    assert bootstrap_law(FLOPS, y, law, 200, seed=1).exponents != ((low, high),)
    [narrower] = bootstrap_law(FLOPS, y, law, 200, confidence=0.5).exponents
    assert low < narrower[0] < narrower[1] < high


def test_interval_of_exact_law_is_its_exponent():
    # Many samples of three points have only one distinct point.
    law = fit_power_law([1e13, 1e14, 1e15], [4, 2, 1])
    found = bootstrap_law([1e13, 1e14, 1e15], [4, 2, 1], law, 50)
    [(low, high)] = found.exponents
    assert low == pytest.approx(high) == pytest.approx(-np.log10(2))
    assert found.offset is None


@pytest.mark.parametrize("options", [{"samples": 0}, {"seed": -1}, {"confidence": 1.0}, {"confidence": 0.0}])
def test_invalid_options_raise(options):
    with pytest.raises(BitcipherError, match=r"A bootstrap needs at least 1 sample, a seed of at least 0"):
        bootstrap_law([1, 2, 3], [3, 2, 1], PowerLaw(3.0, -0.5, 1.0), **options)


def test_too_few_points_for_offset_raise():
    with pytest.raises(BitcipherError, match="needs at least 3 different x"):
        bootstrap_law([1, 2, 2], [3, 2, 1], PowerLaw(3.0, -0.5, 1.0, offset=0.1))
