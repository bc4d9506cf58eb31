import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.correlation import rank_correlation
from training.studies.downscaling.scaling.published import published

pairs = st.lists(st.tuples(st.integers(1, 6), st.integers(-3, 3)), min_size=3, max_size=20).filter(
    lambda found: all(len(set(values)) > 1 for values in zip(*found, strict=True))
)


def ranks(values):
    """Return ranks from 1; equal values have their mean rank."""
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


@given(pairs)
def test_coefficient_is_correlation_of_ranks(found):
    perplexities, scores = map(list, zip(*found, strict=True))
    coefficient, p_value = rank_correlation(perplexities, scores)
    assert coefficient == pytest.approx(np.corrcoef(ranks(perplexities), ranks(scores))[0, 1])
    assert 0 <= p_value <= 1


@pytest.mark.parametrize(
    ("scores", "orders"),
    # Fraction of the 6 orders of three points, or 120 orders of five points, with at least this correlation; two-sided.
    [([3, 2, 1], 2 / 6), ([2, 3, 1], 1), ([5, 4, 3, 2, 1], 2 / 120), ([5, 4, 3, 1, 2], 10 / 120)],
)
def test_p_value_of_few_points_is_exact(scores, orders):
    _, p_value = rank_correlation(range(1, len(scores) + 1), scores)
    assert p_value == pytest.approx(orders)


def test_correlations_of_table_3():
    rows = published().pretrained
    perplexities = [row.perplexity for row in rows]
    # The correlation is weaker than the paper's, which is over more models.
    assert rank_correlation(perplexities, [row.glue_filtered for row in rows]) == pytest.approx(
        (-0.396, 0.093), abs=0.001
    )
    assert rank_correlation(perplexities, [row.glue_unfiltered for row in rows]) == pytest.approx(
        (-0.381, 0.108), abs=0.001
    )


def test_invalid_perplexities_and_scores_raise():
    with pytest.raises(BitcipherError, match=r"All 3 scores are 5\.0, so they have no ranks to compare"):
        rank_correlation([1, 2, 3], [5, 5, 5])
    with pytest.raises(BitcipherError, match=r"There are 2 points, but at least 3 are needed"):
        rank_correlation([1, 2], [5, 6])
    with pytest.raises(BitcipherError, match=r"Number 2 of the perplexities is 0\.0, but must be above 0"):
        rank_correlation([1, 0, 2], [-5, 0, 5])
