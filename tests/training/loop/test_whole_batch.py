"""Losses that compare the rows of a batch: micro-batches, workers and interruptions do not change them."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_runs import Interruption, config_of, curve_of, interrupting_after
from two_processes import on_two

from training.loop.checkpoint_folders import latest_checkpoint
from training.loop.distributed import World
from training.loop.step import backward_of_batch
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")

MODEL = {"architecture": "roberta", "projector_size": 8, "dropout": 0.1}
VICREG = {"name": "vicreg", "covariance_weight": 0.5}


def run_config(folder, text, objective="simclr", **changes):
    changes = {"loop": {"micro_batch_size": 2, "eval_sequences": 20}} | changes
    values = VICREG if objective == "vicreg" else {"name": objective}
    return config_of(folder, text, model=MODEL | changes.pop("model", {}), objective=values, **changes)


def run_in(folder, text, objective="simclr", **changes):
    run_pretraining(run_config(folder, text, objective, **changes))
    return folder


def weights_of(folder):
    return load_file(latest_checkpoint(folder) / "model.safetensors")


def assert_close_runs(one, other, rel=2e-3):
    for left, right in zip(curve_of(one), curve_of(other), strict=True):
        assert left == pytest.approx(right, rel=rel)


class PairedRows:
    """Loss of products of each row with all others."""

    compares_validation_rows = True

    def row_outputs(self, model, batch):
        return model(batch["inputs"]), batch["labels"]

    def batch_loss(self, outputs):
        states, labels = outputs
        return ((states @ states.T).tanh() * labels).sum()


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_gradients_are_those_of_the_whole_batch(size):
    torch.manual_seed(0)
    model, objective = torch.nn.Linear(4, 3), PairedRows()
    batch = {"inputs": torch.randn(6, 4), "labels": torch.arange(6)}
    expected = objective.batch_loss(objective.row_outputs(model, batch))
    gradient = torch.autograd.grad(expected / 5, model.weight)[0]
    parts = [{name: rows[start : start + size] for name, rows in batch.items()} for start in range(0, 6, size)]
    world = World(0, 1, torch.device("cpu"))
    loss = backward_of_batch(
        objective,
        lambda number: objective.row_outputs(model, parts[number]),
        range(len(parts)),
        torch.tensor(5.0),
        torch.amp.GradScaler("cpu", enabled=False),
        world,
    )
    torch.testing.assert_close(loss, expected.detach())
    torch.testing.assert_close(model.weight.grad, gradient)


@pytest.mark.parametrize("objective", ["simclr", "vicreg"])
def test_micro_batches_change_only_rounding(objective, tiny_text, tmp_path):
    for size in (8, 2):
        loop = {"micro_batch_size": size, "eval_sequences": 20, "learning_rate": 1e-4}
        run_in(tmp_path / str(size), tiny_text, objective, model={"dropout": 0.0}, loop=loop)
    assert_close_runs(tmp_path / "8", tmp_path / "2")


@pytest.mark.parametrize(
    "objective", [pytest.param("simclr", marks=pytest.mark.long), pytest.param("vicreg", marks=pytest.mark.slow)]
)
def test_two_workers_train_as_one_does(objective, tiny_text, tmp_path):
    loop = {"micro_batch_size": 2, "eval_sequences": 20, "learning_rate": 1e-4}
    run_in(tmp_path / "one", tiny_text, objective, loop=loop)
    on_two(run_pretraining, run_config(tmp_path / "two", tiny_text, objective, loop=loop))
    assert_close_runs(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize("last", [2, 4, 9])
def test_same_bytes_after_an_interruption(last, tiny_text, tmp_path):
    run_in(tmp_path / "straight", tiny_text)
    config = run_config(tmp_path / "stopped", tiny_text)
    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(last))
    run_pretraining(config)
    assert curve_of(tmp_path / "stopped") == curve_of(tmp_path / "straight")
    one, other = weights_of(tmp_path / "stopped"), weights_of(tmp_path / "straight")
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_only_full_batches_are_evaluated(tiny_text, tmp_path):
    metrics = {}
    for sequences in (16, 17, 23, 5):
        loop = {"max_steps": 1, "eval_sequences": sequences}
        run_in(tmp_path / str(sequences), tiny_text, loop=loop)
        metrics[sequences] = curve_of(tmp_path / str(sequences))[0]
    assert metrics[16] == metrics[17] == metrics[23]
    assert np.isfinite(metrics[5]["validation_loss"])
    assert metrics[5] != metrics[16]
    parts = metrics[16]["invariance_loss"] + metrics[16]["regularization_loss"]
    assert metrics[16]["validation_loss"] == pytest.approx(parts)
