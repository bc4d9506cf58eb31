"""Gradients of losses that compare the rows of a batch with each other.

Such a loss is not a sum over micro-batches. It is computed once from the outputs of all rows, and each micro-batch then
goes backward from the gradients of its own outputs (Gao et al. 2021, "Scaling Deep Contrastive Learning Batch Size
under Memory Limited Setup", section 3). Batches, micro-batches and workers therefore have the same loss and gradients,
up to rounding.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Protocol, runtime_checkable

import torch

from training.loop.distributed import World


@runtime_checkable
class WholeBatchLoss(Protocol):
    """Interface of a `SummedLoss` that compares rows with each other."""

    compares_validation_rows: ClassVar[bool]
    """Whether `row_sums` compares rows, too, so that its values depend on the number of rows."""

    def row_outputs(self, model: torch.nn.Module, batch: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Return the outputs of each row of a micro-batch, [B, ...] each, with gradients if they are float."""
        ...

    def batch_loss(self, outputs: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the sum of the losses of all rows of a batch, from their outputs [N, ...], as a float32 scalar."""
        ...


def backward_of_batch(
    objective: WholeBatchLoss,
    forward: Callable[[int], tuple[torch.Tensor, ...]],
    micro_batch_ids: Sequence[int],
    n_targets: torch.Tensor,
    scaler: torch.amp.GradScaler,
    world: World,
) -> torch.Tensor:
    """Add the scaled gradients of the mean loss of a batch with respect to the weights, and return its sum of losses.

    A worker with several micro-batches computes their outputs twice, and holds the activations of one at a time.

    Args:
        objective: loss of the batch.
        forward: returns the outputs of the worker's micro-batch with the given index, the same ones at each call.
        micro_batch_ids: indices of the worker's micro-batches among all micro-batches of the batch. Workers have
            equally many, and all micro-batches have equally many rows.
        n_targets: number of targets of the batch.
        scaler: scale of the gradients.
        world: this worker.
    """
    is_single = len(micro_batch_ids) == 1
    with torch.set_grad_enabled(is_single):
        own = [forward(number) for number in range(len(micro_batch_ids))]
    outputs = [
        _gather([each[position].detach() for each in own], micro_batch_ids, world) for position in range(len(own[0]))
    ]
    for values in outputs:
        values.requires_grad_(values.is_floating_point())
    loss = objective.batch_loss(outputs)
    scaler.scale(loss / n_targets.float()).backward()
    for number, micro_batch_id in enumerate(micro_batch_ids):
        of_rows = own[number] if is_single else forward(number)
        rows = slice(micro_batch_id * len(of_rows[0]), (micro_batch_id + 1) * len(of_rows[0]))
        pairs = [(one, all_.grad[rows]) for one, all_ in zip(of_rows, outputs, strict=True) if all_.grad is not None]
        torch.autograd.backward([one for one, _ in pairs], [gradient for _, gradient in pairs])
    return loss.detach()


def _gather(own: Sequence[torch.Tensor], micro_batch_ids: Sequence[int], world: World) -> torch.Tensor:
    """Return the rows of all workers in the order of the micro-batches."""
    size = len(own[0])
    gathered = own[0].new_zeros(size * len(own) * world.size, *own[0].shape[1:])
    for micro_batch_id, values in zip(micro_batch_ids, own, strict=True):
        gathered[micro_batch_id * size : (micro_batch_id + 1) * size] = values
    world.all_reduce([gathered])
    return gathered
