"""The loss on held-out examples, which are the same at every step and for every seed."""

import math

import numpy as np
import torch

from training.loop.distributed import World
from training.loop.examples import Examples
from training.loop.options import LoopOptions
from training.loop.steps import autocast, on_device
from training.objectives import Objective


@torch.no_grad()
def evaluate(
    model: torch.nn.Module, objective: Objective, examples: Examples, options: LoopOptions, world: World
) -> dict[str, float]:
    """Mean loss of all predictions, and the perplexity: its exponential."""
    size = options.micro_batch_on(world.size)
    numbers = np.arange(min(options.evaluate_sequences, examples.held_out_size))
    pieces = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    sums = torch.zeros(2, dtype=torch.float64, device=world.device)
    was_training = model.training
    model.eval()
    for piece in pieces[world.rank :: world.size]:
        batch = examples.held_out(piece)
        with autocast(world, options):
            sums[0] += objective.loss(model, on_device(batch, world)).double()
        sums[1] += objective.targets(batch)
    model.train(was_training)
    world.add_up([sums])
    loss = float(sums[0] / sums[1])
    return {"validation_loss": loss, "perplexity": math.exp(min(loss, 700))}
