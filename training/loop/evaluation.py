"""Validation metrics on a fixed sample of examples, which depends neither on the step nor on the seed of the run."""

import math
from collections.abc import Callable

import numpy as np
import torch

from training.data.examples import Examples
from training.data.token_streams import SequenceOrder
from training.loop.distributed import World, autocast
from training.loop.options import LoopOptions
from training.loop.row_moments import N_MOMENTS, interval_of, mean_of, row_moments
from training.loop.step import SummedLoss, WholeBatchLoss, to_device

# Prefix of the names of metrics whose mean is a log perplexity.
PERPLEXITY = "perplexity"
# exp of a larger loss overflows float64.
_MAX_LOSS = 700


def evaluation_ids(validation_size: int, eval_sequences: int) -> np.ndarray:
    """Return the ids [N] of the validation examples to evaluate: a fixed random sample without replacement.

    The first examples would all come from the first source.
    """
    return SequenceOrder(validation_size, seed=0).sequence_ids(np.arange(min(eval_sequences, validation_size)))


@torch.no_grad()
def evaluate(
    model: torch.nn.Module,
    objective: SummedLoss,
    examples: Examples,
    options: LoopOptions,
    world: World,
    advance: Callable[[float], None] = lambda fraction: None,
) -> dict[str, float]:
    """Return the mean of each of the objective's metrics over the sample.

    A metric whose name begins with `perplexity` is the exponential of its mean, with the bounds of its 95 % confidence
    interval: `perplexity_low` and `perplexity_high`. Of examples with several sources, `perplexity` is also returned
    for each source, as `perplexity/SOURCE`. `advance` is called with the fraction of the sample that is done.
    """
    ids = evaluation_ids(examples.validation_size, options.eval_sequences)
    size = options.micro_batch_size_for(world.size)
    if isinstance(objective, WholeBatchLoss) and objective.compares_validation_rows:
        # The loss of a row depends on the number of rows, so only full batches are compared, unless there is none.
        size = options.batch_size
        ids = ids[: max(len(ids) // size * size, min(len(ids), size))]
    micro_batches = [ids[start : start + size] for start in range(0, len(ids), size)]
    sources = examples.validation_sources
    metrics = objective.metrics
    moments = torch.zeros(
        (len(metrics), max(1, len(sources)), N_MOMENTS), dtype=torch.float64, device=world.device
    )  # of each metric and source
    was_training = model.training
    model.eval()
    for first in range(0, len(micro_batches), world.size):
        # All workers compute the same number of micro-batches, because layers that are sharded need all workers. In
        # the last round, some compute one that another worker counts.
        number = min(first + world.rank, len(micro_batches) - 1)
        micro_batch = micro_batches[number]
        batch = examples.validation_batch(micro_batch)
        with autocast(world, options):
            sums = objective.row_sums(model, to_device(batch, world))
        advance(min(1.0, (first + world.size) / len(micro_batches)))
        if number < first + world.rank:
            continue
        numbers = torch.from_numpy(examples.validation_source_numbers(micro_batch)).to(world.device)
        for of_metric, name in zip(moments, metrics, strict=True):
            of_metric.index_add_(0, numbers, row_moments(sums[name]))
    model.train(was_training)
    world.all_reduce([moments])
    values: dict[str, float] = {}
    for of_metric, name in zip(moments, metrics, strict=True):
        if not name.startswith(PERPLEXITY):
            values[name] = mean_of(of_metric.sum(0))
            continue
        values |= _perplexity(name, of_metric.sum(0))
        if name == PERPLEXITY:
            for of_source, source in zip(of_metric, sources, strict=False):
                values |= _perplexity(name, of_source, f"/{source}")
    return values


def _perplexity(name: str, moments: torch.Tensor, suffix: str = "") -> dict[str, float]:
    low, high = interval_of(moments)
    bounds = {"": mean_of(moments), "_low": low, "_high": high}
    # Values that a small sample lacks are left out.
    return {
        f"{name}{bound}{suffix}": math.exp(min(value, _MAX_LOSS))
        for bound, value in bounds.items()
        if math.isfinite(value) or not (bound or suffix)
    }
