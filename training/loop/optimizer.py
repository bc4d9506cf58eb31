"""AdamW over three groups of weights: matrices, the embedding table, and the rest."""

import torch
from torch import nn

from training.loop.options import LoopOptions
from training.loop.schedule import rate_share
from training.models import input_embeddings

# What AdamW remembers of each weight, in this order.
MEMORIES = ("exp_avg", "exp_avg_sq", "step")


def make_optimizer(model: nn.Module, options: LoopOptions, table_rate: float) -> torch.optim.AdamW:
    """AdamW with decay for matrices alone, and a rate of its own for the embedding table.

    Args:
        model: whose weights are to be trained.
        options: of the loop.
        table_rate: the rate of the table, as a share of that of all others.
    """
    table = input_embeddings(model).weight
    others = [weight for weight in model.parameters() if weight is not table]
    groups = [
        {
            "params": [weight for weight in others if weight.ndim >= 2],
            "weight_decay": options.weight_decay,
            "share": 1.0,
        },
        {"params": [weight for weight in others if weight.ndim < 2], "weight_decay": 0.0, "share": 1.0},
        {"params": [table], "weight_decay": 0.0, "share": table_rate},
    ]
    # One call for all weights instead of one each.
    return torch.optim.AdamW(groups, lr=options.learning_rate, betas=(options.beta1, options.beta2), fused=True)


def set_rate(optimizer: torch.optim.Optimizer, options: LoopOptions, step: int) -> float:
    """Give every group the rate of a step.

    Returns:
        That of weights with no share of their own.
    """
    share = rate_share(options.schedule, step, options.steps, options.warmup, options.final_rate)
    rate = options.learning_rate * share
    for group in optimizer.param_groups:
        group["lr"] = rate * group["share"]
    return rate


def remembered(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """What the optimizer remembers, by the name of each weight."""
    return {
        f"{name}:{memory}": optimizer.state[weight][memory].detach().contiguous().clone()
        for name, weight in model.named_parameters()
        if weight in optimizer.state
        for memory in MEMORIES
    }


def remember(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]) -> None:
    """Put back what `remembered` gave."""
    for name, weight in model.named_parameters():
        if f"{name}:step" in tensors:
            kept = {memory: tensors[f"{name}:{memory}"] for memory in MEMORIES}
            optimizer.state[weight] = {memory: tensor.to(weight.device) for memory, tensor in kept.items()}
