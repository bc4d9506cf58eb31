import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.scaling import published, rank_correlation

pairs = st.lists(st.tuples(st.integers(1, 6), st.integers(-3, 3)), min_size=3, max_size=20).filter(
    lambda found: all(len(set(values)) > 1 for values in zip(*found, strict=True))
)


def ranks(values):
    """Ranks from 1, of equal ones their mean."""
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


@given(pairs)
def test_it_is_the_correlation_of_ranks(found):
    perplexities, scores = map(list, zip(*found, strict=True))
    coefficient, p_value = rank_correlation(perplexities, scores)
    assert coefficient == pytest.approx(np.corrcoef(ranks(perplexities), ranks(scores))[0, 1])
    assert 0 <= p_value <= 1


@pytest.mark.parametrize(
    ("scores", "orders"),
    # Of 6 orders of three and 120 of five points, so many are as far from 0 on the same side; twice that, for both.
    [([3, 2, 1], 2 / 6), ([2, 3, 1], 1), ([5, 4, 3, 2, 1], 2 / 120), ([5, 4, 3, 1, 2], 10 / 120)],
)
def test_of_few_points_all_orders_are_gone_through(scores, orders):
    _, p_value = rank_correlation(range(1, len(scores) + 1), scores)
    assert p_value == pytest.approx(orders)


def test_of_table_3():
    rows = published().pretrained
    perplexities = [row.perplexity for row in rows]
    # Weaker than what the paper reports over more models.
    assert rank_correlation(perplexities, [row.glue_filtered for row in rows]) == pytest.approx(
        (-0.396, 0.093), abs=0.001
    )
    assert rank_correlation(perplexities, [row.glue_unfiltered for row in rows]) == pytest.approx(
        (-0.381, 0.108), abs=0.001
    )


def test_what_has_no_ranks_is_told():
    with pytest.raises(BitcipherError, match=r"All 3 scores are 5\.0: they have no ranks to compare\."):
        rank_correlation([1, 2, 3], [5, 5, 5])
    with pytest.raises(BitcipherError, match=r"There are 2 points, but at least 3 are needed"):
        rank_correlation([1, 2], [5, 6])
    with pytest.raises(BitcipherError, match=r"Number 2 of the perplexities is 0\.0, but must be above 0"):
        rank_correlation([1, 0, 2], [-5, 0, 5])
