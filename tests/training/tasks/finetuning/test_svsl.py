"""SVSL: its formula in plain NumPy, its effect on classes, and its independence of micro-batches and workers."""

import json

import numpy as np
import pytest
import torch
from finetune_runs import config_of, finetuned
from tiny_runs import curve_of
from tiny_tasks import write_model, write_task
from two_processes import on_two

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.loop.checkpoint_folders import latest_checkpoint
from training.models.checkpoint import load_model
from training.tasks.finetuning.examples import select_rows
from training.tasks.finetuning.finetuning_run import make_encoder, run_finetuning
from training.tasks.finetuning.head_states import head_states
from training.tasks.finetuning.losses import ClassificationLoss
from training.tasks.finetuning.options import make_finetune_options
from training.tasks.finetuning.svsl import VariabilityLoss
from training.tasks.finetuning.task_files import read_task

pytestmark = pytest.mark.usefixtures("one_thread")

SHORT = {"num_train_epochs": None, "svsl_weight": 0.1}
LOOP = {"max_steps": 6, "eval_steps": 3, "save_steps": 3, "logging_steps": 1, "learning_rate": 1e-3}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    for architecture in ("bert", "gpt2", "t5"):
        write_model(folder / architecture, architecture, num_hidden_layers=2, dropout=0.0)
    write_task(folder / "cola", "cola", 96)
    return folder


def run_in(folder, made, architecture="bert", **changes):
    return finetuned(folder, made / architecture, "cola", made / "cola", **(SHORT | {"loop": LOOP} | changes))


def training_rows(made, model):
    encoder = make_encoder(model.config, load_tokenizer(str(made / "bert" / "tokenizer.json")), None)
    features = read_task("cola", str(made / "cola")).features("train", encoder)
    return {name: torch.from_numpy(values) for name, values in select_rows(features, np.arange(32)).items()}


def reference(logits, states, labels, weight, first_layer):
    """Return the sum of the losses by loops over rows and layers."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    total = -sum(log_probabilities[row, label] for row, label in enumerate(labels))
    for layer in states[first_layer:]:
        for row, label in enumerate(labels):
            total += weight * np.sum((layer[row] - layer[labels == label].mean(axis=0)) ** 2)
    return total


@pytest.mark.parametrize("first_layer", [0, 1, 2])
@pytest.mark.parametrize("architecture", ["bert", "gpt2", "t5"])
def test_loss_is_the_formula(architecture, first_layer, made, tmp_path):
    run_in(tmp_path, made, architecture)
    model = load_model(str(latest_checkpoint(tmp_path))).eval()
    batch = training_rows(made, model)
    states, logits = head_states(model, batch)
    arrays = (logits.detach().double().numpy(), states.detach().double().numpy(), batch["labels"].numpy())
    assert states.shape[0] == 3
    loss = VariabilityLoss(0.3, first_layer).loss(model, batch)
    assert loss.item() == pytest.approx(reference(*arrays, 0.3, first_layer), rel=1e-5)
    assert VariabilityLoss(0.0, first_layer).loss(model, batch).item() == pytest.approx(
        ClassificationLoss().loss(model, batch).item(), rel=1e-5
    )


def test_class_with_one_row_has_no_distance():
    states, logits = torch.randn(3, 2, 4), torch.zeros(3, 5)
    found = VariabilityLoss(1.0, 1).batch_loss((logits, states, torch.tensor([0, 2, 4])))
    assert found.item() == pytest.approx(3 * np.log(5))


@pytest.mark.long
def test_micro_batches_and_workers_change_only_rounding(made, tmp_path):
    for size in (16, 4):
        run_in(tmp_path / str(size), made, loop=LOOP | {"micro_batch_size": size})
    changes = SHORT | {"loop": LOOP | {"micro_batch_size": 4}}
    on_two(run_finetuning, config_of(tmp_path / "two", made / "bert", "cola", made / "cola", **changes))
    for other in ("16", "two"):
        for one, same in zip(curve_of(tmp_path / "4"), curve_of(tmp_path / other), strict=True):
            assert one == pytest.approx(same, rel=2e-3)


def test_validation_loss_is_the_cross_entropy_of_all_rows(made, tmp_path):
    first = {}
    for weight in (None, 0.1):
        loop = LOOP | {"max_steps": 1, "eval_sequences": 41, "eval_on_start": True}  # not a multiple of the batch
        first[weight] = curve_of(run_in(tmp_path / str(weight), made, svsl_weight=weight, loop=loop))[0]
    assert first[None] == pytest.approx(first[0.1], rel=1e-6)


def within_share(folder, made):
    """Return the share of the variance of the last layer's states that is within classes."""
    model = load_model(str(latest_checkpoint(folder))).eval()
    batch = training_rows(made, model)
    with torch.no_grad():
        states = head_states(model, batch)[0][-1].numpy()
    labels = batch["labels"].numpy()
    within = sum(np.square(states[labels == one] - states[labels == one].mean(0)).sum() for one in (0, 1))
    return within / np.square(states - states.mean(0)).sum()


def test_states_of_a_class_are_closer_to_each_other(made, tmp_path):
    loop = LOOP | {"max_steps": 60, "eval_steps": 60, "save_steps": 60, "learning_rate": 3e-3}
    for name, weight in (("without", None), ("with", 0.1)):
        run_in(tmp_path / name, made, svsl_weight=weight, loop=loop)
    assert within_share(tmp_path / "with", made) < 0.5 * within_share(tmp_path / "without", made)
    scores = json.loads((tmp_path / "with" / "predictions.json").read_text())["scores"]
    assert scores["matthews"] > 80


def test_invalid_options_raise(made, tmp_path):
    for values, fact in (
        ({"task": "stsb", "svsl_weight": 0.1}, "`svsl_weight` needs classes of sentences"),
        ({"task": "cola", "svsl_first_layer": 2}, "`svsl_first_layer` needs `svsl_weight`"),
        ({"task": "cola", "svsl_weight": 0}, "`svsl_weight` must be greater than 0"),
    ):
        with pytest.raises(BitcipherError, match=fact):
            make_finetune_options({"model": "model", "data": "data", **values})
    with pytest.raises(BitcipherError, match="`svsl_first_layer` must be at most 2, the number of layers, got 3"):
        run_in(tmp_path, made, svsl_first_layer=3)
