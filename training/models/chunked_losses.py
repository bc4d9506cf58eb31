"""Sum of the losses of many predictions, of which only a chunk has its logits in memory at a time."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

# Sum of the losses of a chunk of rows, and other results for each of its rows; called with slices of the rows' arrays.
ChunkLoss = Callable[..., tuple[Tensor, Tensor]]


def sum_over_chunks(
    chunk_loss: ChunkLoss, weights: Sequence[Tensor], size: int, hidden: Tensor, *rows: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the sum of the losses of all rows, and the other results of all rows, without gradients.

    With several chunks, the gradients of a chunk are computed right after its loss, so its logits are neither kept
    until the backward pass nor computed again in it.

    Args:
        chunk_loss: loss of a chunk, with slices of `hidden` and `rows` as arguments.
        weights: parameters that the loss depends on.
        size: number of rows of a chunk.
        hidden: [N, H], the hidden states of the rows.
        rows: [N, …], other arrays of the rows, without gradients.
    """
    if len(hidden) <= size:
        return chunk_loss(hidden, *rows)
    if torch.is_grad_enabled():
        return _ChunkGradients.apply(chunk_loss, size, rows, hidden, *weights)
    losses, results = zip(*(chunk_loss(*chunk) for chunk in _split(size, hidden, *rows)), strict=True)
    return torch.stack(losses).sum(), torch.cat(results)


def _split(size: int, *arrays: Tensor) -> list[tuple[Tensor, ...]]:
    return list(zip(*(array.split(size) for array in arrays), strict=True))


class _ChunkGradients(torch.autograd.Function):
    """Computes the gradients in the forward pass; the backward pass multiplies them by that of the sum."""

    @staticmethod
    def forward(
        ctx: Any, chunk_loss: ChunkLoss, size: int, rows: tuple[Tensor, ...], hidden: Tensor, *weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        losses, results, of_hidden = [], [], []
        of_weights = [torch.zeros_like(weight) for weight in weights]
        for states, *arrays in _split(size, hidden, *rows):
            with torch.enable_grad():
                leaf = states.detach().requires_grad_()
                loss, result = chunk_loss(leaf, *arrays)
            gradient, *gradients = torch.autograd.grad(loss, (leaf, *weights))
            for total, each in zip(of_weights, gradients, strict=True):
                total += each
            of_hidden.append(gradient)
            losses.append(loss.detach())
            results.append(result)
        ctx.save_for_backward(torch.cat(of_hidden), *of_weights)
        combined = torch.cat(results)
        ctx.mark_non_differentiable(combined)
        return torch.stack(losses).sum(), combined

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        of_hidden, *of_weights = (gradients[0] * gradient for gradient in ctx.saved_tensors)
        return None, None, None, of_hidden, *of_weights
