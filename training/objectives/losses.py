"""Summed cross-entropy of many predictions with bounded memory.

The module is imported to check options, so it imports torch in its functions.
"""

from typing import TYPE_CHECKING

from training import models

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

# Maximum number of logits in memory: 64 MiB in float32. Larger amounts are computed in chunks, and recomputed in the
# backward pass: 4,096 predictions over 32,768 tokens then take 233 MiB instead of 1,537 MiB, and 2.3 s instead of
# 1.4 s (one core, hidden size 64).
MAX_LOGITS = 2**24


def summed_loss(model: "PreTrainedModel", hidden: "Tensor", labels: "Tensor") -> "Tensor":
    """Return the sum of the cross-entropies of predictions from hidden states.

    Args:
        model: model whose head computes the logits.
        hidden: [N, H].
        labels: [N] int64, the target tokens.

    Returns:
        A float32 scalar, in nats.
    """
    import torch
    from torch.utils.checkpoint import checkpoint

    rows = max(1, MAX_LOGITS // model.config.vocab_size)
    if len(labels) <= rows:
        return _chunk_loss(model, hidden, labels)
    losses = [
        # The head has no dropout, so its random state need not be restored.
        checkpoint(_chunk_loss, model, chunk, chunk_labels, use_reentrant=False, preserve_rng_state=False)
        for chunk, chunk_labels in zip(hidden.split(rows), labels.split(rows), strict=True)
    ]
    return torch.stack(losses).sum()


def summed_loss_and_samples(
    model: "PreTrainedModel", hidden: "Tensor", labels: "Tensor", draws: "Tensor"
) -> tuple["Tensor", "Tensor"]:
    """Return the loss of `summed_loss`, and a token that is sampled from each prediction.

    Args:
        model: model whose head computes the logits.
        hidden: [N, H].
        labels: [N] int64, the target tokens.
        draws: [N] float32, uniform random numbers below 1, which determine the samples.

    Returns:
        A float32 scalar, in nats, and [N] int64 without gradients.
    """
    import torch
    from torch.utils.checkpoint import checkpoint

    rows = max(1, MAX_LOGITS // model.config.vocab_size)
    chunks = zip(hidden.split(rows), labels.split(rows), draws.split(rows), strict=True)
    parts = [
        checkpoint(_chunk_loss_and_samples, model, *chunk, use_reentrant=False, preserve_rng_state=False)
        if len(labels) > rows
        else _chunk_loss_and_samples(model, *chunk)
        for chunk in chunks
    ]
    return torch.stack([loss for loss, _ in parts]).sum(), torch.cat([samples for _, samples in parts])


def score_tokens(model: "PreTrainedModel", hidden: "Tensor", labels: "Tensor") -> tuple["Tensor", "Tensor"]:
    """Return the cross-entropy of each prediction, and whether its likeliest token is the target; without gradients.

    Args:
        model: model whose head computes the logits.
        hidden: [N, H].
        labels: [N] int64, the target tokens.

    Returns:
        [N] float32, in nats, and [N] bool.
    """
    import torch
    from torch.nn import functional

    losses, correct = [hidden.new_empty(0, dtype=torch.float32)], [labels.new_empty(0, dtype=torch.bool)]
    rows = max(1, MAX_LOGITS // model.config.vocab_size)
    with torch.no_grad():
        for chunk, chunk_labels in zip(hidden.split(rows), labels.split(rows), strict=True):
            logits = models.logits(model, chunk).float()
            losses.append(functional.cross_entropy(logits, chunk_labels, reduction="none"))
            correct.append(logits.argmax(dim=1) == chunk_labels)
    return torch.cat(losses), torch.cat(correct)


def sums_of_rows(values: "Tensor", rows: "Tensor", n_rows: int) -> "Tensor":
    """Return [n_rows, 2] float64: the sum and the number of the values [N] of each row, by row numbers [N]."""
    import torch

    terms = torch.stack([values.double(), torch.ones_like(values, dtype=torch.float64)], dim=1)
    return terms.new_zeros(n_rows, 2).index_add_(0, rows, terms)


def rows_of(labels: "Tensor") -> "Tensor":
    """Return the row number [B · S] of each label in flattened labels [B, S]."""
    import torch

    return torch.arange(len(labels), device=labels.device).repeat_interleave(labels.shape[1])


def _chunk_loss(model: "PreTrainedModel", hidden: "Tensor", labels: "Tensor") -> "Tensor":
    from torch.nn import functional

    return functional.cross_entropy(models.logits(model, hidden).float(), labels, reduction="sum")


def _chunk_loss_and_samples(
    model: "PreTrainedModel", hidden: "Tensor", labels: "Tensor", draws: "Tensor"
) -> tuple["Tensor", "Tensor"]:
    import torch
    from torch.nn import functional

    logits = models.logits(model, hidden).float()
    with torch.no_grad():
        # The first token at which the cumulative probability exceeds the random number. Rounding in float32 would add
        # up over large vocabularies.
        cumulative = logits.softmax(dim=1, dtype=torch.float64).cumsum(dim=1)
        thresholds = draws.double()[:, None] * cumulative[:, -1:]
        samples = torch.searchsorted(cumulative, thresholds, right=True)[:, 0].clamp(max=logits.shape[1] - 1)
    return functional.cross_entropy(logits, labels, reduction="sum"), samples
