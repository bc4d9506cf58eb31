"""Log-likelihoods of tokens under any language model, in batches without padding."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from training.models.parts import hidden_states, logits

# Maximum number of tokens, and of logits (32 MiB in float64), of a batch.
_TOKENS_PER_BATCH, _LOGITS_PER_BATCH = 4096, 2**22


class ScoredRow(NamedTuple):
    """Input of a model, and the tokens whose probabilities count."""

    item: int
    """Number of the item that the row belongs to, such as a sentence."""
    inputs: list[int]
    """Input of the model; of an encoder-decoder, of its encoder."""
    positions: list[int]
    """Positions whose outputs predict the targets; of an encoder-decoder, positions of its decoder."""
    targets: list[int]
    """Tokens whose probabilities count, as many as positions."""
    decoder_inputs: tuple[int, ...] = ()
    """Input of the decoder of an encoder-decoder; empty for other models."""


@torch.no_grad()
def log_likelihoods(model: PreTrainedModel, rows: Sequence[ScoredRow], n_items: int) -> np.ndarray:
    """Return the sum of the log-probabilities of the targets of all rows of each item in nats, [n_items] float64.

    Args:
        model: model with a language-modeling head, in evaluation mode.
        rows: inputs and targets.
        n_items: number of items.
    """
    sums = np.zeros(n_items)
    for batch in _batches(rows, model.config.vocab_size):
        np.add.at(sums, [row.item for row in batch], _score_batch(model, batch))
    return sums


def _batches(rows: Sequence[ScoredRow], n_tokens: int) -> Iterator[list[ScoredRow]]:
    """Yield batches of rows of equal lengths, so that no row needs padding."""
    by_lengths = defaultdict(list)
    for row in rows:
        by_lengths[len(row.inputs), len(row.decoder_inputs), len(row.targets)].append(row)
    for (length, decoder_length, n_targets), same in sorted(by_lengths.items()):
        size = max(1, min(_TOKENS_PER_BATCH // (length + decoder_length), _LOGITS_PER_BATCH // (n_targets * n_tokens)))
        for start in range(0, len(same), size):
            yield same[start : start + size]


def _score_batch(model: PreTrainedModel, batch: list[ScoredRow]) -> np.ndarray:
    """Return the sum of the log-probabilities of each row's targets, (B,) float64."""

    def tensor(values: Sequence[Sequence[int]]) -> Tensor:
        return torch.tensor(values, device=model.device)

    inputs = tensor([row.inputs for row in batch])
    arrays = {"input_ids": inputs, "attention_mask": torch.ones_like(inputs)}
    if batch[0].decoder_inputs:
        arrays["decoder_input_ids"] = tensor([row.decoder_inputs for row in batch])
    hidden = hidden_states(model, arrays)
    positions = tensor([row.positions for row in batch])[..., None].expand(-1, -1, hidden.shape[-1])
    log_probabilities = logits(model, hidden.gather(1, positions)).double().log_softmax(-1)
    targets = tensor([row.targets for row in batch])[..., None]
    return log_probabilities.gather(2, targets).sum(dim=(1, 2)).cpu().numpy()
