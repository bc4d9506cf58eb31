"""Replaced-token detection: samples, loss, gradients of shared embeddings, and the order of results."""

import numpy as np
import pytest
import torch
from batch_contexts import VOCABULARY, gradients, make_context, model_for, tensors

from training.models import losses
from training.models.losses import summed_loss_and_samples
from training.models.parts import hidden_states, logits
from training.objectives.masked import MaskedLM
from training.objectives.replaced_tokens import ReplacedTokens

LENGTH = 24
SHARINGS = ("es", "nes", "gdes")


def pair(sharing: str, architecture: str = "modernbert"):
    return model_for(architecture, LENGTH, generator_layers=1, embedding_sharing=sharing)


def batch_of(rows: int, first: int = 0, **options):
    objective = ReplacedTokens(mlm_probability=0.3, **options)
    return objective, tensors(objective.make_batch(make_context(objective, LENGTH, rows, first=first)))


def samples_of(model, batch):
    """Return the samples of the generator, recomputed one by one from its probabilities."""
    states = hidden_states(model.generator, batch).flatten(0, 1)[batch["positions"]]
    samples = []
    for row, draw in zip(logits(model.generator, states).double().softmax(1), batch["draws"].double(), strict=True):
        cumulative = np.cumsum(row.detach().numpy())
        samples.append(int(np.argmax(cumulative > float(draw) * cumulative[-1])))
    return torch.tensor(samples)


def test_generator_sees_masks_and_targets_are_those_of_masked_lm():
    _, batch = batch_of(5)
    masked = MaskedLM(mlm_probability=0.3, replacement="always")
    expected = tensors(masked.make_batch(make_context(masked, LENGTH, 5)))
    for name, array in expected.items():
        assert torch.equal(batch[name], array)
    original = batch["original_ids"].flatten()
    assert torch.equal(original[batch["positions"]], batch["labels"])
    kept = torch.ones_like(original, dtype=torch.bool)
    kept[batch["positions"]] = False
    assert torch.equal(original[kept], batch["input_ids"].flatten()[kept])


def test_samples_follow_the_probabilities(monkeypatch):
    model = pair("gdes").generator
    torch.manual_seed(0)
    hidden = torch.randn(1, 16)
    with torch.no_grad():
        expected = 5_000 * logits(model, 20 * hidden).softmax(1)[0]
    draws = (torch.arange(5_000) + 0.5) / 5_000  # each token gets as many as its share, up to rounding
    for limit in (2**24, 100 * VOCABULARY):
        monkeypatch.setitem(losses.MAX_LOGITS, "cpu", limit)
        many = (20 * hidden).expand(5_000, 16)
        _, samples = summed_loss_and_samples(model, many, torch.zeros(5_000, dtype=torch.int64), draws)
        assert (samples.bincount(minlength=VOCABULARY) - expected).abs().max() <= 1


@pytest.mark.parametrize("sharing", SHARINGS)
def test_loss_is_the_formula_of_the_paper(sharing):
    """L_G + λ · L_D of Clark et al. 2020, section 2, with means, for one row."""
    model = pair(sharing)
    objective, batch = batch_of(1, discriminator_weight=7.0)
    states = hidden_states(model.generator, batch).flatten(0, 1)[batch["positions"]]
    probabilities = logits(model.generator, states).softmax(1)
    generator_loss = -probabilities[range(len(batch["labels"])), batch["labels"]].log().mean()
    corrupt = batch["original_ids"].flatten().clone()
    corrupt[batch["positions"]] = samples_of(model, batch)
    is_original = corrupt == batch["original_ids"].flatten()
    assert not is_original.all()
    d = 1 - model.detect(corrupt[None])[0].sigmoid()  # probability that a token is original
    discriminator_loss = -torch.where(is_original, d.log(), (1 - d).log()).mean()
    mean = objective.loss(model, batch) / len(batch["labels"])
    torch.testing.assert_close(mean, generator_loss + 7 * discriminator_loss)


def test_gradients_of_detection_reach_the_generators_table_only_if_it_is_shared():
    _, batch = batch_of(3)
    for sharing in SHARINGS:
        model = pair(sharing)
        found = gradients(model, model.detect(batch["original_ids"]).square().sum())
        of_generator = {name for name in found if name.startswith("generator.")}
        table = "generator.model.embeddings.tok_embeddings.weight"
        assert of_generator == ({table} if sharing == "es" else set())
        own = "discriminator.embeddings.tok_embeddings.weight"
        assert (own in found) == (sharing != "es")
        if sharing == "es":
            assert found[table].abs().sum() > 0
        else:
            assert found[own].abs().sum() > 0


def test_all_tables_start_alike_and_differ_after_an_update():
    objective, batch = batch_of(4)
    losses = {}
    for sharing in SHARINGS:
        model = pair(sharing)
        optimizer = torch.optim.SGD(model.parameters(), 0.001)
        for step in range(2):
            loss = objective.loss(model, batch) / objective.count_targets(batch)
            losses[sharing, step] = loss.item()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert losses["es", 0] == losses["gdes", 0] == losses["nes", 0]
    assert len({losses[sharing, 1] for sharing in SHARINGS}) == 3


@pytest.mark.parametrize("architecture", ["bert", "roberta"])
def test_batch_loss_is_sum_of_rows(architecture):
    model = pair("gdes", architecture)
    objective, whole = batch_of(6)
    rows = [batch_of(1, first)[1] for first in range(6)]
    torch.testing.assert_close(objective.loss(model, whole), sum(objective.loss(model, row) for row in rows))
    sums = objective.row_sums(model, whole)
    assert set(sums) == set(objective.metrics)
    total, count = sums["validation_loss"].sum(0)
    torch.testing.assert_close(total.float(), objective.loss(model, whole))
    assert count == objective.count_targets({name: array.numpy() for name, array in whole.items()})
    for number, row in enumerate(rows):
        for name, of_row in objective.row_sums(model, row).items():
            torch.testing.assert_close(of_row, sums[name][number : number + 1], msg=name)


def test_accuracies_count_replaced_tokens_apart():
    model = pair("gdes")
    objective, batch = batch_of(8)
    with torch.no_grad():
        model.detector["output"].weight.zero_()
        model.detector["output"].bias.fill_(-1)  # every token is taken for an original
    sums = {name: of_rows.sum(0) for name, of_rows in objective.row_sums(model, batch).items()}
    n_replaced = int((samples_of(model, batch) != batch["labels"]).sum())
    assert sums["replaced_accuracy"].tolist() == [0, n_replaced]
    assert sums["detection_accuracy"].tolist() == [8 * LENGTH - n_replaced, 8 * LENGTH]
