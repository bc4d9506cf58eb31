"""Which runs are stopped."""

import math

import pytest

from training.sweep.early_stopping import stop_reason


def lines(*losses, every=10):
    """A run's evaluations, with lines of training between them."""
    looks = [{"step": number * every, "validation_loss": loss} for number, loss in enumerate(losses)]
    return [line for look in looks for line in (look, {"step": look["step"] + 1, "loss": 3.0})]


@pytest.mark.parametrize("losses", [(), (8.0,), (8.0, 7.9), (8.0, 7.0, 7.5), (8.0, 9.0)])
def test_a_run_that_learns_goes_on_and_a_young_one_is_waited_for(losses):
    assert stop_reason(lines(*losses), 100) is None


@pytest.mark.parametrize("loss", [math.nan, math.inf])
@pytest.mark.parametrize("before", [(), (8.0,), (8.0, 7.0, 6.0)])
def test_a_loss_that_is_no_number_stops_at_once(loss, before):
    assert stop_reason(lines(*before, loss), 100_000) == f"The loss is not finite at step {10 * len(before):,}."


def test_no_progress_after_a_fifth_of_the_steps_stops():
    assert stop_reason(lines(8.0, 8.1), 51) is None
    assert stop_reason(lines(8.0, 8.126), 50) == "The loss is 8.13 at step 10, not below that of step 0."
    assert stop_reason(lines(8.0, 7.0, 6.0, 8.0), 50) == "The loss is 8.00 at step 30, not below that of step 0."
    assert stop_reason(lines(8.0, 7.0, 6.0, 7.99), 50) is None


def test_the_first_evaluation_is_not_held_against_itself():
    assert stop_reason(lines(8.0), 1) is None
