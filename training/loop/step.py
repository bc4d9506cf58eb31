"""Gradients of one update: micro-batches, and sums of losses and gradients over workers.

The sums of gradients are sent in buckets while the backward pass computes other gradients. torch's
DistributedDataParallel does this for models that are called as a whole. Objectives call parts of a model.

A loss that compares the rows of a batch with each other is not a sum over micro-batches. It is computed once from the
outputs of all rows, and each micro-batch then goes backward from the gradients of its own outputs (Gao et al. 2021,
"Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup", section 3). Batches, micro-batches and
workers therefore have the same loss and gradients, up to rounding.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from torch.distributed.tensor import DTensor

from training.data.counter_rng import derive_key
from training.data.examples import Batch, Examples
from training.loop.distributed import World, autocast
from training.loop.options import LoopOptions

# Size of a bucket, as in DistributedDataParallel: smaller ones have more overhead, larger ones begin later.
BUCKET_BYTES = 25 << 20


@contextmanager
def summing_gradients(model: torch.nn.Module, world: World, n_passes: int) -> Iterator[None]:
    """Sum the gradients of a model over all workers: those of `n_passes` backward passes in this context.

    A bucket of weights is sent as soon as the last pass has computed all of its gradients, and all buckets before it
    are sent. Whatever is left, such as buckets with a weight that the loss does not depend on, is sent at the end. So
    all workers send the same buckets in the same order. FSDP itself sums the gradients of sharded weights.

    Args:
        model: model; weights that are frozen are ignored.
        world: this worker.
        n_passes: number of backward passes in the context.
    """
    if world.size == 1:
        yield
        return
    # Backward passes begin at the last weights.
    weights = [
        weight
        for weight in reversed(list(model.parameters()))
        if weight.requires_grad and not isinstance(weight, DTensor)
    ]
    sums = _BucketSums(split_into_buckets(weights, BUCKET_BYTES), world, n_passes)
    hooks = [weight.register_post_accumulate_grad_hook(sums.note) for weight in weights]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
    sums.finish()


def split_into_buckets(weights: Sequence[torch.Tensor], size: int) -> list[list[torch.Tensor]]:
    """Return the weights in their order, in buckets of at least `size` bytes each, except the last one."""
    buckets: list[list[torch.Tensor]] = [[]]
    n_bytes = 0
    for weight in weights:
        if n_bytes >= size:
            buckets.append([])
            n_bytes = 0
        buckets[-1].append(weight)
        n_bytes += weight.nbytes
    return buckets


class _BucketSums:
    """All-reduces of buckets of gradients, each started when it is complete and those before are started."""

    def __init__(self, buckets: list[list[torch.Tensor]], world: World, n_passes: int):
        self._buckets, self._world = buckets, world
        self._bucket_of = {weight: number for number, bucket in enumerate(buckets) for weight in bucket}
        self._n_missing = [len(bucket) * n_passes for bucket in buckets]
        self._started: list[Callable[[], None]] = []

    def note(self, weight: torch.Tensor) -> None:
        """Note that a backward pass has computed the gradient of a weight."""
        self._n_missing[self._bucket_of[weight]] -= 1
        while len(self._started) < len(self._buckets) and self._n_missing[len(self._started)] == 0:
            self._start(self._buckets[len(self._started)])

    def finish(self) -> None:
        """Start the other buckets, and wait for all of them."""
        for bucket in self._buckets[len(self._started) :]:
            self._start(bucket)
        for wait in self._started:
            wait()

    def _start(self, bucket: list[torch.Tensor]) -> None:
        gradients = [weight.grad for weight in bucket if weight.grad is not None]
        self._started.append(self._world.start_all_reduce(gradients))


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
