"""Validation loss on a fixed set of examples, which depends neither on the step nor on the seed of the run."""

import math

import numpy as np
import torch

from training.data import SequenceOrder
from training.loop.distributed import World
from training.loop.examples import Examples
from training.loop.options import LoopOptions
from training.loop.steps import SummedLoss, autocast, to_device

# exp of a larger loss overflows float64.
_MAX_LOSS = 700


def evaluation_ids(validation_size: int, eval_sequences: int) -> np.ndarray:
    """Return the ids [N] of the validation examples to evaluate: a fixed random sample without replacement.

    The first examples would all come from the first source.
    """
    return SequenceOrder(validation_size, seed=0).sequence_ids(np.arange(min(eval_sequences, validation_size)))


@torch.no_grad()
def evaluate(
    model: torch.nn.Module, objective: SummedLoss, examples: Examples, options: LoopOptions, world: World
) -> dict[str, float]:
    """Return `validation_loss`, the mean loss over all predictions, and `perplexity`, the exponential of the loss."""
    size = options.micro_batch_size_for(world.size)
    ids = evaluation_ids(examples.validation_size, options.eval_sequences)
    micro_batches = [ids[start : start + size] for start in range(0, len(ids), size)]
    sums = torch.zeros(2, dtype=torch.float64, device=world.device)
    was_training = model.training
    model.eval()
    for micro_batch in micro_batches[world.rank :: world.size]:
        batch = examples.validation_batch(micro_batch)
        with autocast(world, options):
            sums[0] += objective.loss(model, to_device(batch, world)).double()
        sums[1] += objective.count_targets(batch)
    model.train(was_training)
    world.all_reduce([sums])
    loss = float(sums[0] / sums[1])
    return {"validation_loss": loss, "perplexity": math.exp(min(loss, _MAX_LOSS))}
