"""Steps of a budget, with constant and with growing batches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.loop.options import LoopOptions
from training.search.tune.trial_budget import parse_budget


@given(st.integers(8, 20_000), st.sampled_from([None, 2, 4]), st.integers(1, 4))
def test_steps_are_the_most_that_the_tokens_allow(amount, initial, length):
    loop = LoopOptions(batch_size=8, initial_batch_size=initial, batch_ramp_steps=0.5)
    budget = parse_budget(f"{amount * length}tokens")

    def tokens_of(steps):
        return loop.copy_with(max_steps=steps).count_sequences(steps) * length

    steps = budget.count_steps(loop, length)
    assert tokens_of(steps) <= amount * length < tokens_of(steps + 1)


@pytest.mark.parametrize(("text", "amount"), [("500steps", 500), ("2 ksteps", 2000), ("0.5Gtokens", 500_000_000)])
def test_budgets_are_read(text, amount):
    assert parse_budget(text).amount == amount
    assert text.endswith(parse_budget(text).unit)
