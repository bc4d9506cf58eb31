"""Training on distinct pairs with counts against training on tokens."""

import labeled
import numpy as np
import pytest
import torch

from training.evaluation.probes import fit as fitting
from training.evaluation.probes.data import Pairs, make_task
from training.evaluation.probes.fit import batches, fit
from training.evaluation.probes.model import make_probe, predict
from training.evaluation.probes.probe_scores import look_up


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


def test_gradient_over_pairs_equals_gradient_over_tokens(task, features):
    assert len(task.train.pairs.words) < len(task.train) / 5
    assert task.train.pairs.counts.sum() == len(task.train)
    torch.manual_seed(0)
    probe = make_probe(features.shape[1], len(task.labels)).eval()  # without dropout, whose draws would differ
    of_pairs = gradient(probe, features, task.train.pairs)
    for one, other in zip(of_pairs, gradient(probe, features, by_token(task.train)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [1, 7, 60, 10_000])
def test_weights_of_an_epoch_sum_to_counts(task, size):
    pairs = task.train.pairs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "BATCH_PAIRS", size)
        epoch = list(batches(pairs, np.random.default_rng(0)))
    assert len(epoch) == max(1, round(len(pairs.counts) / size))
    total = np.zeros(len(pairs.counts))
    for indices, weights in epoch:
        assert len(set(indices.tolist())) == len(indices)
        total[indices] += weights
    np.testing.assert_allclose(total, pairs.counts)


def test_training_on_pairs_matches_training_on_tokens(task, features):
    truth = task.test.labels
    accuracies = []
    for pairs in (task.train.pairs, by_token(task.train)):
        probe, _, _ = fit(features, len(task.labels), pairs, task.validation.pairs, seed=0)
        accuracies.append(np.mean(predict(probe, features).numpy()[task.test.words] == truth))
    # Nine tenths of the tokens have the usual label of their word, and a quarter of the others have it by chance.
    assert accuracies[0] == pytest.approx(0.925, abs=0.02)
    assert accuracies[1] == pytest.approx(accuracies[0], abs=0.005)


def test_fit_returns_best_epoch(task, features):
    probe, epoch, accuracy = fit(features, len(task.labels), task.train.pairs, task.validation.pairs, seed=0)
    assert 1 <= epoch <= fitting.MAX_EPOCHS
    predicted = predict(probe, features).numpy()[task.validation.words]
    assert accuracy == pytest.approx(np.mean(predicted == task.validation.labels))


def test_seed_determines_probe(task, features):
    def weights(seed):
        probe, _, _ = fit(features, len(task.labels), task.train.pairs, task.validation.pairs, seed)
        return torch.cat([parameter.flatten() for parameter in probe.parameters()])

    state = torch.get_rng_state()
    first = weights(3)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(5)
    assert torch.equal(first, weights(3))
    assert not torch.equal(first, weights(4))
