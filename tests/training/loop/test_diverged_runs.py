"""Runs whose numbers are not finite stop with a sentence, and nothing of them is stored."""

import json
import math

import pytest
import torch
from tiny_runs import config_of, curve_of

from bitcipher.errors import BitcipherError
from training.loop.checkpoint_folders import find_latest_checkpoint, latest_checkpoint
from training.loop.errors import DivergenceError
from training.loop.training_run import FiniteCheck
from training.models.checkpoint import load_model
from training.objectives.causal import CausalLM
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")


def numbers_of(folder):
    """Return all numbers in metrics, which must be JSON in the strict sense."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    lines = [json.loads(line, parse_constant=refuse) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [number for line in lines for number in line.values()]


@pytest.mark.parametrize("loop", [{}, {"logging_steps": 100}, {"eval_steps": 100}, {"save_steps": 1}], ids=str)
def test_enormous_learning_rate_stops_without_a_checkpoint(tiny_text, tmp_path, loop):
    changes = {"learning_rate": 1e38, "warmup_steps": 0, "max_grad_norm": 1e30, **loop}
    with pytest.raises(DivergenceError, match=r"not finite .*so the training was stopped.*lower learning rate"):
        run_pretraining(config_of(tmp_path, tiny_text, loop=changes))
    assert find_latest_checkpoint(tmp_path) is None
    assert all(math.isfinite(number) for number in numbers_of(tmp_path))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_diverged_run_keeps_the_checkpoint_before(tiny_text, tmp_path, monkeypatch, value):
    loss, calls = CausalLM.loss, []

    def diverging(objective, model, batch):
        calls.append(model.training)
        return loss(objective, model, batch) * (value if sum(calls) == 6 else 1)

    monkeypatch.setattr(CausalLM, "loss", diverging)
    config = config_of(tmp_path, tiny_text)
    with pytest.raises(DivergenceError, match=r"loss or the gradient is not finite .* at step 6,"):
        run_pretraining(config)
    assert latest_checkpoint(tmp_path).name == "00000004"
    assert all(torch.isfinite(weight).all() for weight in load_model(str(latest_checkpoint(tmp_path))).parameters())
    assert curve_of(tmp_path)[-1]["step"] == 5
    monkeypatch.setattr(CausalLM, "loss", loss)
    run_pretraining(config)
    straight = tmp_path / "straight"
    run_pretraining(config_of(straight, tiny_text))
    assert curve_of(tmp_path) == curve_of(straight)


def test_score_that_is_not_finite_stops(tiny_text, tmp_path, monkeypatch):
    monkeypatch.setattr("training.loop.training_run.evaluate", lambda *_: {"validation_loss": math.nan})
    with pytest.raises(BitcipherError, match=r"The validation loss is not finite .* at step 0"):
        run_pretraining(config_of(tmp_path, tiny_text))
    assert numbers_of(tmp_path) == []


def test_first_failed_step_is_remembered():
    check = FiniteCheck(torch.device("cpu"))
    for step, (loss, norm) in enumerate([(1.0, 2.0), (3.0, math.inf), (math.nan, 1.0), (1.0, 1.0)], 1):
        check.note(step, torch.tensor(loss, dtype=torch.float64), torch.tensor(norm), is_skipped=False)
        if step == 1:
            check.check_steps()
    with pytest.raises(DivergenceError, match="at step 2,"):
        check.check_steps()
