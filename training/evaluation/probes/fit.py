"""Training of a probe on distinct pairs of word and label instead of tokens.

A probe sees only the word, so all tokens of a pair have the same loss. The loss over all tokens therefore equals the
loss over distinct pairs weighted by their counts. Computing the latter takes a fifth of the time.

Each epoch spreads frequent pairs over several batches, so that no frequent word dominates a batch. A pair with up to
four tokens is in one batch. A pair with c tokens is in c / 4 batches, or in all batches if there are fewer. The weights
of a pair sum to c over the epoch, so the losses of all batches sum to the loss over all tokens.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

from training.evaluation.probes.data import Pairs
from training.evaluation.probes.model import DROPOUT, HIDDEN, make_probe, predict

# The hyperparameters were selected on validation splits, see README.md.
LEARNING_RATE = 5e-3
BATCH_PAIRS = 512
# Maximum number of tokens of a pair per batch, unless the pair is in all batches. A smaller maximum is slower, and a
# larger maximum makes batches less uniform. With 1, an epoch takes twice as long, and no metric differs by more than
# the standard deviation over seeds.
MAX_TOKENS_PER_BATCH = 4
# Epochs without a better validation accuracy before training stops, and the maximum number of epochs.
PATIENCE = 5
MAX_EPOCHS = 60

# Increase this number when the same vectors, task and settings give other scores. A test compares scores, and fails
# after such a change.
PROBE_VERSION = 1

SETTINGS = {
    "hidden": HIDDEN,
    "dropout": DROPOUT,
    "learning_rate": LEARNING_RATE,
    "batch_pairs": BATCH_PAIRS,
    "tokens_at_once": MAX_TOKENS_PER_BATCH,
    "patience": PATIENCE,
    "max_epochs": MAX_EPOCHS,
}
"""All hyperparameters, to be stored with results."""


def fit(
    features: torch.Tensor, num_labels: int, train: Pairs, validation: Pairs, seed: int
) -> tuple[nn.Module, int, float]:
    """Train a probe, and return it as it was after the epoch with the best validation accuracy.

    Args:
        features: (words, d) float32, features of each word.
        num_labels: number of labels.
        train: training pairs.
        validation: pairs that select the epoch.
        seed: seed of initial weights, order of pairs and dropout. The same seed on one machine gives the same probe.

    Returns:
        The probe, the selected epoch counted from 1, and the accuracy on the validation pairs, between 0 and 1.
    """
    with _one_thread(), torch.random.fork_rng():
        torch.manual_seed(seed)
        random = np.random.default_rng(seed)
        probe = make_probe(features.shape[1], num_labels).to(features.device)
        optimizer = torch.optim.Adam(probe.parameters(), LEARNING_RATE)
        best, best_epoch, best_accuracy = {}, 0, -1.0
        for epoch in range(1, MAX_EPOCHS + 1):
            _train_epoch(probe, optimizer, features, train, random)
            accuracy = _accuracy(probe, features, validation)
            if accuracy > best_accuracy:
                best = {name: value.clone() for name, value in probe.state_dict().items()}
                best_epoch, best_accuracy = epoch, accuracy
            if epoch >= best_epoch + PATIENCE:
                break
        probe.load_state_dict(best)
    return probe, best_epoch, best_accuracy


def batches(pairs: Pairs, random: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the batches of an epoch: indices of pairs, and their weights.

    Over the epoch, the weights of a pair sum to its count.
    """
    number = max(1, round(len(pairs.counts) / BATCH_PAIRS))
    times = np.minimum(-(-pairs.counts // MAX_TOKENS_PER_BATCH), number)
    first_batch = random.permutation(len(times)) % number
    entries = np.repeat(np.arange(len(times)), times)
    repeats = np.arange(len(entries)) - np.repeat(np.cumsum(times) - times, times)
    batch = (first_batch[entries] + repeats * number // times[entries]) % number
    order = np.argsort(batch, kind="stable")
    weights = pairs.counts / times
    for indices in np.split(entries[order], np.searchsorted(batch[order], np.arange(1, number))):
        yield indices, weights[indices]


def _train_epoch(
    probe: nn.Module,
    optimizer: torch.optim.Optimizer,
    features: torch.Tensor,
    pairs: Pairs,
    random: np.random.Generator,
) -> None:
    probe.train()
    device = features.device
    epoch = list(batches(pairs, random))
    # The losses of all batches are divided by the same number, the mean number of tokens of a batch. Otherwise they
    # would no longer be proportional to the loss over all tokens.
    tokens_of_batch = pairs.counts.sum() / len(epoch)
    for indices, weights in epoch:
        words, labels = (torch.from_numpy(column[indices]).to(device) for column in (pairs.words, pairs.labels))
        losses = nn.functional.nll_loss(probe(features[words]), labels, reduction="none")
        fractions = torch.from_numpy((weights / tokens_of_batch).astype(np.float32)).to(device)
        optimizer.zero_grad()
        (losses * fractions).sum().backward()
        optimizer.step()


def _accuracy(probe: nn.Module, features: torch.Tensor, pairs: Pairs) -> float:
    words, inverse = np.unique(pairs.words, return_inverse=True)
    predicted = predict(probe, features[torch.from_numpy(words)]).cpu().numpy()[inverse]
    return float(pairs.counts[predicted == pairs.labels].sum() / pairs.counts.sum())


@contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread in the `with` block, so that sums have the same order on any machine. More would gain little."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
