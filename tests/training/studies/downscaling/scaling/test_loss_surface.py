import csv
import gzip
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.loss_surface import fit_loss_surface

N, D = (grid.ravel() for grid in np.meshgrid(np.geomspace(1e7, 1e9, 5), np.geomspace(1e8, 1e11, 5)))
# Path of the evaluations of the OLMo model ladder as CSV, which is not part of this repository.
LADDER = os.environ.get("BITCIPHER_OLMO_LADDER")


def losses(irreducible, alpha, beta):
    """Return losses whose terms of N and D are 1 at their smallest values."""
    return irreducible + (N / 1e7) ** -alpha + (D / 1e8) ** -beta


@settings(max_examples=10, deadline=None)
@given(st.floats(0.5, 3), st.floats(0.15, 0.7), st.floats(0.15, 0.7))
def test_exact_law_is_recovered(irreducible, alpha, beta):
    y = losses(irreducible, alpha, beta)
    law = fit_loss_surface(N, D, y)
    assert law.at(N, D) == pytest.approx(y, rel=1e-4)
    assert (law.irreducible, law.alpha, law.beta) == pytest.approx((irreducible, alpha, beta), rel=0.02)


def test_larger_model_is_predicted_from_noisy_runs_with_an_outlier():
    errors = []
    for seed in range(4):
        y = losses(1.7, 0.34, 0.28) * np.exp(np.random.default_rng(seed).normal(0, 0.002, len(N)))
        y[seed] *= 1.2  # a run that diverged
        predicted = fit_loss_surface(N, D, y).at([1e10], [1e12])
        errors.append(abs(float(predicted[0]) / (1.7 + 1e3**-0.34 + 1e4**-0.28) - 1))
    assert np.mean(errors) < 0.01


def test_units_do_not_matter():
    y = losses(1.7, 0.34, 0.28)
    law = fit_loss_surface(N / 1e6, D / 1e9, y)
    assert law.at([1e4], [1e3]) == pytest.approx(fit_loss_surface(N, D, y).at([1e10], [1e12]), rel=1e-4)


def test_invalid_points_raise():
    with pytest.raises(BitcipherError, match="There are 5 points, but at least 6 are needed"):
        fit_loss_surface(range(1, 6), range(1, 6), range(1, 6))
    with pytest.raises(BitcipherError, match="There are 25 tokens but 24 losses"):
        fit_loss_surface(N[:24], D, losses(1, 0.3, 0.3)[:24])
    with pytest.raises(BitcipherError, match="All 25 tokens are 7"):
        fit_loss_surface(N, np.full(25, 7), losses(1, 0.3, 0.3))
    with pytest.raises(BitcipherError, match=r"Number 1 of the losses is -1\.0"):
        fit_loss_surface(N, D, np.full(25, -1))


@pytest.mark.skipif(not LADDER, reason="BITCIPHER_OLMO_LADDER has no path")
@pytest.mark.parametrize(("largest", "mean_error"), [(4e8, 0.0105), (8e8, 0.0091), (2e9, 0.0108)])
def test_larger_runs_of_the_ladder_are_predicted(largest, mean_error):
    with gzip.open(str(LADDER), "rt", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if not row["note"]]
    last = {row["run"]: row for row in sorted(rows, key=lambda row: int(row["step"]))}.values()
    n, d, y = np.array([[*map(float, (r["params_non_embedding"], r["tokens"], r["c4_en_ce"]))] for r in last]).T
    fitted = n < largest
    law = fit_loss_surface(n[fitted], d[fitted], y[fitted])
    held_out = np.abs(law.at(n, d) / y - 1)[~fitted]
    assert held_out.mean() == pytest.approx(mean_error, abs=0.0005)
