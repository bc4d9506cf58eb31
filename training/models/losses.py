"""Summed cross-entropy of many predictions with bounded memory.

The module is imported to check options, so it imports torch in its functions.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

    CrossEntropy = Callable[[Tensor, Tensor], Tensor]

# Default of the maximum number of logits in memory: 64 MiB in float32 on a CPU, and 1 GiB on a GPU, which small
# products would leave idle. 4,096 predictions over 32,768 tokens take 234 MiB and 2.0 s in chunks, and 1,536 MiB and
# 2.1 s at once (one core, hidden size 64).
MAX_LOGITS = {"cpu": 2**24, "cuda": 2**28}
_max_logits: ContextVar[int | None] = ContextVar("max_logits", default=None)


@contextmanager
def limiting_logits(number: int | None) -> Iterator[None]:
    """In the context, keep at most this number of logits in memory at the same time; None for the default."""
    token = _max_logits.set(number)
    try:
        yield
    finally:
        _max_logits.reset(token)


def summed_loss(model: "PreTrainedModel", hidden: "Tensor", labels: "Tensor") -> "Tensor":
    """Return the sum of the cross-entropies of predictions from hidden states.

    Args:
        model: model whose head computes the logits.
        hidden: [N, H].
        labels: [N] int64, the target tokens.

    Returns:
        A float32 scalar, in nats.
    """
    loss, _ = _sum_over_chunks(model, _chunk_loss, hidden, labels)
    return loss


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
    return _sum_over_chunks(model, _chunk_loss_and_samples, hidden, labels, draws)


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

    from training.models import parts

    losses, correct = [hidden.new_empty(0, dtype=torch.float32)], [labels.new_empty(0, dtype=torch.bool)]
    size = max_predictions(model)
    with torch.no_grad():
        for chunk, chunk_labels in zip(hidden.split(size), labels.split(size), strict=True):
            logits = parts.logits(model, chunk).float()
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


def max_predictions(model: "PreTrainedModel") -> int:
    """Return the number of predictions whose logits are in memory at the same time, at least one."""
    return max(1, (_max_logits.get() or MAX_LOGITS[model.device.type]) // model.config.vocab_size)


def _sum_over_chunks(
    model: "PreTrainedModel", chunk_loss: Callable[..., tuple["Tensor", "Tensor"]], hidden: "Tensor", *rows: "Tensor"
) -> tuple["Tensor", "Tensor"]:
    from training.models import parts
    from training.models.chunked_losses import sum_over_chunks

    weights = [weight for weight in parts.output_head(model).parameters() if weight.requires_grad]
    cross_entropy = _compiled_cross_entropy() if parts.is_compiled(model) else _summed_cross_entropy
    chunk_loss = partial(chunk_loss, model, cross_entropy)
    return sum_over_chunks(chunk_loss, weights, max_predictions(model), hidden, *rows)


def _chunk_loss(
    model: "PreTrainedModel", cross_entropy: "CrossEntropy", hidden: "Tensor", labels: "Tensor"
) -> tuple["Tensor", "Tensor"]:
    from training.models import parts

    return cross_entropy(parts.logits(model, hidden), labels), labels.new_empty(0)


def _chunk_loss_and_samples(
    model: "PreTrainedModel", cross_entropy: "CrossEntropy", hidden: "Tensor", labels: "Tensor", draws: "Tensor"
) -> tuple["Tensor", "Tensor"]:
    import torch

    from training.models import parts

    logits = parts.logits(model, hidden)
    with torch.no_grad():
        # The first token at which the cumulative probability exceeds the random number. Rounding in float32 would add
        # up over large vocabularies.
        cumulative = logits.softmax(dim=1, dtype=torch.float64).cumsum(dim=1)
        thresholds = draws.double()[:, None] * cumulative[:, -1:]
        samples = torch.searchsorted(cumulative, thresholds, right=True)[:, 0].clamp(max=logits.shape[1] - 1)
    return cross_entropy(logits, labels), samples


@cache
def _compiled_cross_entropy() -> "CrossEntropy":
    # One kernel reads the logits once, instead of several that write float32 copies of them.
    import torch

    return torch.compile(_summed_cross_entropy)


def _summed_cross_entropy(logits: "Tensor", labels: "Tensor") -> "Tensor":
    from torch.nn import functional

    return functional.cross_entropy(logits.float(), labels, reduction="sum")
