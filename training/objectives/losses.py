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


def _chunk_loss(model: "PreTrainedModel", hidden: "Tensor", labels: "Tensor") -> "Tensor":
    from torch.nn import functional

    return functional.cross_entropy(models.logits(model, hidden).float(), labels, reduction="sum")
