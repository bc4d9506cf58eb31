"""Training a probe on distinct pairs of word and label instead of tokens.

A probe sees nothing but the word, so all tokens of a pair have the same loss, and the loss over the tokens is that
over the distinct pairs, each times its count: the same objective at a fifth of the cost. An epoch deals out the tokens
of every pair once, as evenly over its batches as tokens would lie: a pair of up to four tokens is in one batch, one of
c tokens in c / 4 batches, at most in all, and its weights add up to c. So the batches of an epoch add up to the
objective exactly, and no batch is carried away by a frequent word.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

from training.probes.data import Pairs
from training.probes.model import DROPOUT, HIDDEN, make_probe, predict

# Chosen on validation parts, see README.md.
LEARNING_RATE = 5e-3
BATCH_PAIRS = 512
# Tokens of a pair that may go into a batch at once, if the pair is not in all batches anyway: fewer cost more, and more
# make batches less alike. With 1 an epoch takes twice as long, and no figure differs by more than the spread of seeds.
TOKENS_AT_ONCE = 4
# Epochs without a better validation accuracy after which training ends, and epochs at most.
PATIENCE = 5
MAX_EPOCHS = 60

SETTINGS = {
    "hidden": HIDDEN,
    "dropout": DROPOUT,
    "learning_rate": LEARNING_RATE,
    "batch_pairs": BATCH_PAIRS,
    "tokens_at_once": TOKENS_AT_ONCE,
    "patience": PATIENCE,
    "max_epochs": MAX_EPOCHS,
}
"""All that was chosen, for those who keep results."""


def fit(
    features: torch.Tensor, labels: int, train: Pairs, validation: Pairs, seed: int
) -> tuple[nn.Module, int, float]:
    """Train a probe, and keep the epoch that is best on the validation pairs.

    Args:
        features: (words, d) float32, a row for each word that pairs name.
        labels: how many there are.
        train: what to train on.
        validation: what the epoch is chosen by.
        seed: of the first weights, the order of pairs and dropout; the same seed on one machine gives the same probe.

    Returns:
        The probe, the epoch that was kept, counted from 1, and its accuracy on the validation pairs.
    """
    with _one_thread(), torch.random.fork_rng():
        torch.manual_seed(seed)
        random = np.random.default_rng(seed)
        probe = make_probe(features.shape[1], labels).to(features.device)
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
    """The batches of an epoch: the places of their pairs and the weights of these.

    The weights of a pair add up to its count over the epoch.
    """
    number = max(1, round(len(pairs.counts) / BATCH_PAIRS))
    times = np.minimum(-(-pairs.counts // TOKENS_AT_ONCE), number)
    first_batch = random.permutation(len(times)) % number
    entries = np.repeat(np.arange(len(times)), times)
    turns = np.arange(len(entries)) - np.repeat(np.cumsum(times) - times, times)
    batch = (first_batch[entries] + turns * number // times[entries]) % number
    order = np.argsort(batch, kind="stable")
    weights = pairs.counts / times
    for places in np.split(entries[order], np.searchsorted(batch[order], np.arange(1, number))):
        yield places, weights[places]


def _train_epoch(
    probe: nn.Module,
    optimizer: torch.optim.Optimizer,
    features: torch.Tensor,
    pairs: Pairs,
    random: np.random.Generator,
) -> None:
    probe.train()
    device = features.device
    dealt = list(batches(pairs, random))
    # Not each batch's own weights: then the batches of an epoch would no longer add up to the objective.
    tokens_of_batch = pairs.counts.sum() / len(dealt)
    for places, weights in dealt:
        words, labels = (torch.from_numpy(column[places]).to(device) for column in (pairs.words, pairs.labels))
        losses = nn.functional.nll_loss(probe(features[words]), labels, reduction="none")
        shares = torch.from_numpy((weights / tokens_of_batch).astype(np.float32)).to(device)
        optimizer.zero_grad()
        (losses * shares).sum().backward()
        optimizer.step()


def _accuracy(probe: nn.Module, features: torch.Tensor, pairs: Pairs) -> float:
    words, places = np.unique(pairs.words, return_inverse=True)
    predicted = predict(probe, features[torch.from_numpy(words)]).cpu().numpy()[places]
    return float(pairs.counts[predicted == pairs.labels].sum() / pairs.counts.sum())


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums in one order, however many cores there are; on matrices this small more threads would gain little."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
