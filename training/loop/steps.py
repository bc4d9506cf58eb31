"""Gradients of one update: micro-batches, and sums of losses and gradients over workers."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import torch

from training.data.counter_rng import derive_key
from training.data.examples import Batch, Examples
from training.loop.distributed import World
from training.loop.gradient_sums import summing_gradients
from training.loop.options import LoopOptions
from training.loop.precision import autocast
from training.loop.whole_batch import WholeBatchLoss, backward_of_batch


class SummedLoss(Protocol):
    """Interface of pre-training objectives and task losses: a sum of losses and the number of its terms."""

    metrics: ClassVar[tuple[str, ...]]
    """Names of the metrics of an evaluation, with `validation_loss`, the mean that training minimizes."""

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of predictions in a batch."""
        ...

    def loss(self, model: torch.nn.Module, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return the sum of the losses of all predictions as a float32 scalar."""
        ...

    def row_sums(self, model: torch.nn.Module, batch: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return [B, 2] for each of `metrics`: the sum and the number of terms of each row of a batch."""
        ...


@dataclass(frozen=True)
class StepData:
    """One worker's micro-batches of a step."""

    micro_batch_ids: list[int]
    """Indices of the micro-batches among all micro-batches of the step."""
    batches: list[Batch]
    """Micro-batches of this worker."""
    n_targets: int
    """Number of predictions in all batches of this worker."""


def iter_steps(
    examples: Examples, objective: SummedLoss, options: LoopOptions, world: World, first: int
) -> Iterator[StepData]:
    """Yield this worker's data for each step from `first` on; a thread prepares the next step."""
    size = options.micro_batch_size_for(world.size)

    def make(step: int) -> StepData:
        per_worker = options.batch_size_at(step) // size // world.size
        micro_batch_ids = list(range(world.rank * per_worker, (world.rank + 1) * per_worker))
        first_position = options.count_sequences(step)
        starts = [first_position + micro_batch_id * size for micro_batch_id in micro_batch_ids]
        batches = [examples.training_batch(np.arange(start, start + size)) for start in starts]
        return StepData(micro_batch_ids, batches, sum(objective.count_targets(batch) for batch in batches))

    with ThreadPoolExecutor(1, "batches") as executor:
        pending: Future[StepData] | None = None
        for step in range(first, options.max_steps):
            data = pending.result() if pending else make(step)
            pending = executor.submit(make, step + 1) if step + 1 < options.max_steps else None
            yield data


def compute_gradients(
    model: torch.nn.Module,
    objective: SummedLoss,
    data: StepData,
    world: World,
    options: LoopOptions,
    scaler: torch.amp.GradScaler,
    key: int,
) -> torch.Tensor:
    """Compute the gradients of the mean loss of the whole batch, times the scale, and return that loss.

    Losses are summed and divided once by the number of targets of all workers. A mean of means would give too much
    weight to micro-batches with few targets.

    Args:
        model: model to train.
        objective: loss of the predictions.
        data: this worker's data of the step.
        world: this worker.
        options: options of the loop.
        scaler: scale of the gradients, from `make_scaler`.
        key: random key of this step's dropout, from `derive_key`.
    """
    # Filled on the device: a copy would wait for all of its work.
    n_targets = torch.full((1,), float(data.n_targets), dtype=torch.float64, device=world.device)
    world.all_reduce([n_targets])

    def start(number: int) -> dict[str, torch.Tensor]:
        # Dropout depends on the micro-batch only, not on the worker that processes it.
        torch.manual_seed(derive_key(key, data.micro_batch_ids[number]))
        return to_device(data.batches[number], world)

    if isinstance(objective, WholeBatchLoss):
        whole = objective

        def forward(number: int) -> tuple[torch.Tensor, ...]:
            batch = start(number)
            with autocast(world, options):
                return whole.row_outputs(model, batch)

        with summing_gradients(model, world, len(data.batches)):
            total_loss = backward_of_batch(whole, forward, data.micro_batch_ids, n_targets[0], scaler, world).double()
    else:
        total_loss = torch.zeros((), dtype=torch.float64, device=world.device)
        with summing_gradients(model, world, len(data.batches)):
            for number in range(len(data.batches)):
                batch = start(number)
                with autocast(world, options):
                    loss = objective.loss(model, batch)
                scaler.scale(loss / n_targets[0].float()).backward()
                total_loss += loss.detach().double()
        world.all_reduce([total_loss])
    return total_loss / n_targets[0]


def to_device(batch: Batch, world: World) -> dict[str, torch.Tensor]:
    """Return the arrays of a batch as tensors on the device of the worker."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in batch.items()}
    if world.device.type == "cuda":
        tensors = {name: tensor.pin_memory().to(world.device, non_blocking=True) for name, tensor in tensors.items()}
    return tensors
