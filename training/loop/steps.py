"""One update of the weights: micro-batches, sums of losses and gradients over workers, AdamW."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch

from training.counter_rng import key_of
from training.loop.distributed import World
from training.loop.examples import Batch, Examples
from training.loop.options import LoopOptions
from training.objectives import Objective


@dataclass(frozen=True)
class StepData:
    """This worker's share of a step."""

    numbers: list[int]
    """Of its micro-batches, among all of the step."""
    batches: list[Batch]
    targets: int
    """Predictions in all of them."""


def steps_of(
    examples: Examples, objective: Objective, options: LoopOptions, world: World, first: int
) -> Iterator[StepData]:
    """This worker's share of each step, the next one being made while the last is used."""
    size = options.micro_batch_on(world.size)
    share = options.batch // size // world.size
    numbers = list(range(world.rank * share, (world.rank + 1) * share))

    def make(step: int) -> StepData:
        begins = [step * options.batch + number * size for number in numbers]
        batches = [examples.training(np.arange(begin, begin + size)) for begin in begins]
        return StepData(numbers, batches, sum(objective.targets(batch) for batch in batches))

    with ThreadPoolExecutor(1, "batches") as ahead:
        pending: Future[StepData] | None = None
        for step in range(first, options.steps):
            data = pending.result() if pending else make(step)
            pending = ahead.submit(make, step + 1) if step + 1 < options.steps else None
            yield data


def gather_gradients(
    model: torch.nn.Module, objective: Objective, data: StepData, world: World, options: LoopOptions, key: int
) -> torch.Tensor:
    """Leave in the model the gradients of the mean loss of the whole batch, and give that loss.

    Losses are summed and divided once by the number of targets of all workers: the mean of means would weigh a
    micro-batch with few targets too much.

    Args:
        model: to be trained.
        objective: what is predicted.
        data: this worker's share of the step.
        world: which worker this is.
        options: of the loop.
        key: of this step's dropout.
    """
    totals = torch.tensor([float(data.targets)], dtype=torch.float64, device=world.device)
    world.add_up([totals])
    lost = torch.zeros(1, dtype=torch.float64, device=world.device)
    for number, batch in zip(data.numbers, data.batches, strict=True):
        # Dropout is a micro-batch's own, so that it does not depend on who works on it.
        torch.manual_seed(key_of(key, number))
        with autocast(world, options):
            loss = objective.loss(model, on_device(batch, world))
        (loss / totals[0].float()).backward()
        lost += loss.detach().double()
    world.add_up([weight.grad for weight in model.parameters() if weight.grad is not None])
    world.add_up([lost])
    return lost[0] / totals[0]


def autocast(world: World, options: LoopOptions) -> torch.autocast:
    """Products in bfloat16, if the options and the device say so."""
    has_it = world.device.type == "cuda" and torch.cuda.is_bf16_supported()
    wanted = options.precision == "bfloat16" or (options.precision == "auto" and has_it)
    return torch.autocast(world.device.type, torch.bfloat16, enabled=wanted)


def on_device(batch: Batch, world: World) -> dict[str, torch.Tensor]:
    """Arrays as tensors where the model is."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in batch.items()}
    if world.device.type == "cuda":
        tensors = {name: tensor.pin_memory().to(world.device, non_blocking=True) for name, tensor in tensors.items()}
    return tensors
