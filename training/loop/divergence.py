"""Checks that the numbers of a run are finite, before they are written."""

import math
from collections.abc import Mapping

import torch

from training.loop.distributed import World
from training.loop.errors import DivergenceError
from training.loop.sharding import own_shard


class FiniteCheck:
    """Remembers the first step whose loss or gradient is not finite. Steps are noted without waiting for the device.

    Args:
        device: device of the losses.
    """

    def __init__(self, device: torch.device):
        self._first = torch.zeros((), dtype=torch.int64, device=device)

    def note(self, step: int, loss: torch.Tensor, grad_norm: torch.Tensor, *, is_skipped: bool) -> None:
        """Note the loss and the gradient norm of a step, counted from 1.

        If `is_skipped`, a step whose gradient is not finite does not change the weights, so only the loss counts.
        """
        is_finite = torch.isfinite(loss) & (torch.isfinite(grad_norm) | is_skipped)
        self._first = torch.where(is_finite | (self._first > 0), self._first, step)

    def check_steps(self) -> None:
        """Check all steps so far.

        Raises:
            DivergenceError: if a loss or a gradient was not finite.
        """
        if first := int(self._first):
            raise _divergence("The loss or the gradient is", first)


def check_metrics(step: int, metrics: Mapping[str, float | int | str]) -> None:
    """Check metrics before they are written.

    Raises:
        DivergenceError: if a metric is not finite.
    """
    for name, value in metrics.items():
        if not isinstance(value, str) and not math.isfinite(value):
            raise _divergence(f"The {name.replace('_', ' ')} is", step)


def check_state(step: int, model: torch.nn.Module, optimizer: torch.optim.Optimizer, world: World) -> None:
    """Check the weights and the state of their optimizer before they are written, those of all workers.

    Raises:
        DivergenceError: if a number is not finite.
    """
    states = (tensor for state in optimizer.state.values() for tensor in state.values())
    tensors = [own_shard(tensor) for tensor in (*model.parameters(), *states)]
    # One result for all tensors, because each one that is read waits for the device.
    is_finite = torch.stack([torch.isfinite(tensor).all().to(tensors[0].device) for tensor in tensors]).all()
    if world.any_worker(not is_finite):
        raise _divergence("A weight or the state of the optimizer is", step)


def _divergence(what: str, step: int) -> DivergenceError:
    return DivergenceError(
        f"{what} not finite (NaN or infinite) at step {step:,}, so the training was stopped. Try a lower learning "
        "rate or a longer warmup, in another folder."
    )
