"""Training on distinct pairs with their counts has the objective of training on tokens, and ends in the same place."""

import labeled
import numpy as np
import pytest
import torch

from training.probes import fit as fitting
from training.probes.data import Pairs, make_task
from training.probes.fit import batches, fit
from training.probes.model import make_probe, predict
from training.probes.probe import look_up


@pytest.fixture(scope="module")
def task():
    parts = [labeled.sentences(labeled.TAGS, seed, 300) for seed in range(3)]
    return make_task("pos", *parts, has_spans=False)


@pytest.fixture(scope="module")
def features(task):
    return torch.from_numpy(look_up(labeled.informative_vectors(labeled.TAGS), task.words)[0])


def by_token(split):
    return Pairs(split.words, split.labels, np.ones(len(split), np.int64))


def gradient(probe, features, pairs):
    losses = torch.nn.functional.nll_loss(
        probe(features[torch.from_numpy(pairs.words)]), torch.from_numpy(pairs.labels), reduction="none"
    )
    weights = torch.from_numpy(pairs.counts).float()
    return torch.autograd.grad((losses * weights).sum() / weights.sum(), list(probe.parameters()))


def test_the_objective_is_that_of_tokens(task, features):
    assert len(task.train.pairs.words) < len(task.train) / 5
    assert task.train.pairs.counts.sum() == len(task.train)
    torch.manual_seed(0)
    probe = make_probe(features.shape[1], len(task.labels)).eval()  # without dropout, whose draws would differ
    of_pairs = gradient(probe, features, task.train.pairs)
    for one, other in zip(of_pairs, gradient(probe, features, by_token(task.train)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [1, 7, 60, 10_000])
def test_the_batches_of_an_epoch_hold_every_token_once(task, size):
    pairs = task.train.pairs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "BATCH_PAIRS", size)
        dealt = list(batches(pairs, np.random.default_rng(0)))
    assert len(dealt) == max(1, round(len(pairs.counts) / size))
    total = np.zeros(len(pairs.counts))
    for places, weights in dealt:
        assert len(set(places.tolist())) == len(places)
        total[places] += weights
    np.testing.assert_allclose(total, pairs.counts)


def test_training_by_pairs_and_by_tokens_end_in_the_same_place(task, features):
    truth = task.test.labels
    accuracies = []
    for pairs in (task.train.pairs, by_token(task.train)):
        probe, _, _ = fit(features, len(task.labels), pairs, task.validation.pairs, seed=0)
        accuracies.append(np.mean(predict(probe, features).numpy()[task.test.words] == truth))
    # Nine tenths of the tokens have their word's usual label, and a quarter of the others by chance.
    assert accuracies[0] == pytest.approx(0.925, abs=0.02)
    assert accuracies[1] == pytest.approx(accuracies[0], abs=0.005)


def test_the_best_epoch_is_kept(task, features):
    probe, epoch, accuracy = fit(features, len(task.labels), task.train.pairs, task.validation.pairs, seed=0)
    assert 1 <= epoch <= fitting.MAX_EPOCHS
    predicted = predict(probe, features).numpy()[task.validation.words]
    assert accuracy == pytest.approx(np.mean(predicted == task.validation.labels))


def test_a_seed_gives_the_same_probe_and_another_seed_another(task, features):
    def weights(seed):
        probe, _, _ = fit(features, len(task.labels), task.train.pairs, task.validation.pairs, seed)
        return torch.cat([parameter.flatten() for parameter in probe.parameters()])

    state = torch.get_rng_state()
    first = weights(3)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(5)
    assert torch.equal(first, weights(3))
    assert not torch.equal(first, weights(4))
