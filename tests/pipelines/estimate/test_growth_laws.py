"""Growth laws: known exponents are recovered, and a corpus with a known law is extrapolated from a sample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.estimate.growth_law import PAIRS_BENDING, WORDS_BENDING, Bound, fit_growth_law

TOKENS = [2.0**k for k in range(14, 23)]


@given(st.floats(0.3, 0.95), st.floats(2, 50))
def test_exponent_of_a_power_law_is_recovered(exponent, factor):
    law = fit_growth_law(TOKENS, [factor * n**exponent for n in TOKENS], PAIRS_BENDING)
    assert law.exponent == pytest.approx(exponent, abs=1e-6)
    assert law.error < 1e-6
    for bound in Bound:
        assert law.at(1e12, bound) == pytest.approx(factor * 1e12**exponent, rel=1e-3)


def test_falling_exponent_is_recovered_and_extrapolated_within_the_range():
    def truth(n: float) -> float:  # exponent 0.9 at 2^14, decreasing by 0.02 with each doubling
        doublings = np.log2(n) - 14
        return float(np.exp((14 * 0.9 + 0.9 * doublings - 0.01 * doublings**2) * np.log(2)))

    law = fit_growth_law(TOKENS, list(map(truth, TOKENS)), PAIRS_BENDING)
    assert law.exponent == pytest.approx(0.9 - 0.02 * 8, abs=1e-6)
    for n in (2.0**16.5, 2.0**25):
        assert law.at(n, Bound.LOW) <= truth(n) * 1.000001
        assert law.at(n, Bound.HIGH) >= truth(n) * 0.999999
    # Sizes keep growing, even if the bend is extrapolated far.
    assert law.at(1e15, Bound.LOW) > law.at(1e12, Bound.LOW)


def test_ranges_widen_beyond_the_data():
    noise = np.exp(0.01 * np.random.default_rng(1).standard_normal(len(TOKENS)))
    law = fit_growth_law(TOKENS, [10 * n**0.6 * e for n, e in zip(TOKENS, noise, strict=True)], WORDS_BENDING)
    widths = [law.at(n, Bound.HIGH) / law.at(n, Bound.LOW) for n in (2e7, 1e9, 1e12)]
    assert 1 < widths[0] < widths[1] < widths[2]
    assert law.at(1e9, Bound.LOW) < 10 * 1e9**0.6 < law.at(1e9, Bound.HIGH)


@given(st.floats(1e2, 1e14))
def test_sizes_rise_with_tokens_and_tokens_at_inverts_them(tokens):
    law = fit_growth_law(TOKENS, [10 * n**0.7 / (1 + n / 1e8) ** 0.1 for n in TOKENS], PAIRS_BENDING)
    assert law.at(tokens) <= law.at(tokens * 1.1)
    assert law.tokens_at(law.at(tokens)) == pytest.approx(tokens, rel=1e-6)


def test_sizes_never_exceed_the_limit():
    law = fit_growth_law(TOKENS, [10 * n**0.5 for n in TOKENS], WORDS_BENDING, limit=50_000)
    assert [law.at(1e12, bound) for bound in Bound] == [50_000] * 3
    assert law.at(2.0**20) == pytest.approx(10_240)


def test_too_few_points_raise():
    with pytest.raises(BitcipherError, match="too few documents"):
        fit_growth_law([1e3, 2e3, 2e3, 4e3], [10, 20, 20, 40], WORDS_BENDING)


def test_synthetic_corpus_is_predicted_from_a_sixteenth():
    # Zipf's law with exponent 1.5 implies Heaps' law with exponent 2 / 3.
    tokens = np.random.default_rng(0).zipf(1.5, 1 << 22)
    pairs = tokens[:-1] * 1_000_003 + tokens[1:]
    sizes = [1 << k for k in range(12, 19)]
    for sequence, bending, allowed in ((tokens, WORDS_BENDING, 0.05), (pairs, PAIRS_BENDING, 0.10)):
        law = fit_growth_law(sizes, [len(np.unique(sequence[:n])) for n in sizes], bending)
        whole = len(np.unique(sequence))
        assert law.at(1 << 22) == pytest.approx(whole, rel=allowed)
        assert law.at(1 << 22, Bound.LOW) < whole < law.at(1 << 22, Bound.HIGH)
