"""Conditions of early stopping."""

import pytest

from training.studies.downscaling.sweep.trial_runs import stop_reason


def lines(*losses, every=10):
    """Return metrics lines of evaluations with the given losses, with training losses between them."""
    evaluations = [{"step": number * every, "validation_loss": loss} for number, loss in enumerate(losses)]
    return [line for each in evaluations for line in (each, {"step": each["step"] + 1, "loss": 3.0})]


@pytest.mark.parametrize("losses", [(), (8.0,), (8.0, 7.9), (8.0, 7.0, 7.5), (8.0, 9.0)])
def test_run_with_progress_or_few_steps_continues(losses):
    assert stop_reason(lines(*losses), 100) is None


def test_no_progress_after_a_fifth_of_steps_stops():
    assert stop_reason(lines(8.0, 8.1), 51) is None
    assert stop_reason(lines(8.0, 8.126), 50) == "The loss is 8.13 at step 10, not below that of step 0."
    assert stop_reason(lines(8.0, 7.0, 6.0, 8.0), 50) == "The loss is 8.00 at step 30, not below that of step 0."
    assert stop_reason(lines(8.0, 7.0, 6.0, 7.99), 50) is None


def test_first_evaluation_does_not_stop():
    assert stop_reason(lines(8.0), 1) is None
