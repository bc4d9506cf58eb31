"""AdamW with parameter groups, schedules of learning rates, and the steps in which embeddings are frozen."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm
from torch.optim.lr_scheduler import LambdaLR
from transformers import get_scheduler

from training.loop.distributed import shard_like, split_by_sharding, whole
from training.loop.options import LoopOptions
from training.models.embeddings.options import EmbeddingInitOptions
from training.models.parts import token_tables

# Names of AdamW's state tensors, which exist for each weight.
STATE_TENSORS = ("exp_avg", "exp_avg_sq", "step")
# Smallest factor of the learning rate of a weight with `scale_parameter`, so that weights of zeros learn, too: ε₂ of
# Shazeer & Stern (2018), section 9.
MIN_SCALE = 1e-3


def make_optimizer(model: nn.Module, options: LoopOptions, embeddings_multiplier: float) -> torch.optim.AdamW:
    """Return AdamW with weight decay for all matrices except embeddings: of tokens, positions, types or distances.

    Args:
        model: model to train.
        options: options of the loop.
        embeddings_multiplier: learning rate of the token embeddings, as a multiple of that of the other weights.
    """
    embeddings = [table.weight for table in token_tables(model)]
    others = [weight for weight in model.parameters() if weight not in set(embeddings)]
    tables = {module.weight for module in model.modules() if isinstance(module, nn.Embedding)}
    matrices = {weight for weight in others if weight.ndim >= 2} - tables
    groups = [
        {"params": [weight for weight in others if weight in matrices], "weight_decay": options.weight_decay},
        {"params": [weight for weight in others if weight not in matrices], "weight_decay": 0.0},
        {"params": embeddings, "weight_decay": 0.0, "lr": options.learning_rate * embeddings_multiplier},
    ]
    # A weight whose learning rate is scaled by its own size needs a group of its own.
    split = (lambda weights: [[weight] for weight in weights]) if options.scale_parameter else split_by_sharding
    groups = [group | {"params": part} for group in groups for part in split(group["params"])]
    betas = (options.adam_beta1, options.adam_beta2)
    # `fused` updates all weights in one kernel, instead of several kernels per weight.
    return torch.optim.AdamW(groups, lr=options.learning_rate, betas=betas, fused=True)


def make_scheduler(optimizer: torch.optim.Optimizer, options: LoopOptions) -> LambdaLR:
    """Return the learning-rate schedule that is named in the options, from transformers."""
    name, kwargs = options.lr_scheduler_type, {}
    if name == "warmup_stable_decay":
        kwargs = {
            "num_decay_steps": options.n_decay_steps,
            "decay_type": "linear",
            "min_lr_ratio": options.min_lr_ratio,
        }
    if name == "cosine":
        name, kwargs = "cosine_with_min_lr", {"min_lr_rate": options.min_lr_ratio}
    elif name == "linear":
        # `linear` of transformers ends at 0. A polynomial schedule of power 1 is linear, too, and has an option for its
        # final rate.
        name, kwargs = "polynomial", {"lr_end": options.min_lr_ratio * options.learning_rate, "power": 1.0}
    return get_scheduler(name, optimizer, options.n_warmup_steps, options.max_steps, kwargs)


def set_learning_rate(optimizer: torch.optim.Optimizer, scheduler: LambdaLR, step: int) -> float:
    """Set the learning rate of every parameter group to that of a step, counted from 0.

    The schedule is evaluated at the step, not advanced, so a resumed run needs no scheduler state.

    Returns:
        The learning rate of the weights other than the token embeddings.
    """
    rates = [
        float(base_lr) * factor(step) for base_lr, factor in zip(scheduler.base_lrs, scheduler.lr_lambdas, strict=True)
    ]
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate
    return rates[0]


@torch.no_grad()
def scale_learning_rates(optimizer: torch.optim.Optimizer) -> None:
    """Multiply the learning rate of each parameter group by the root mean square of its only weight.

    So an update changes all weights by a similar fraction, although T5's initial weights have root mean squares from
    0.02 to 1 (Shazeer & Stern 2018, *Adafactor*, section 8).
    """
    for group in optimizer.param_groups:
        (weight,) = group["params"]
        root_mean_square = whole(torch.linalg.vector_norm(weight)) / weight.numel() ** 0.5
        # A tensor, because `float` would wait for the device.
        group["lr"] = group["lr"] * root_mean_square.clamp(min=MIN_SCALE)


def clip_gradients(model: nn.Module, max_norm: float) -> torch.Tensor:
    """Scale the gradients down to a norm of `max_norm` if it is larger, and return the norm before, as a scalar."""
    weights = [weight for weight in model.parameters() if weight.grad is not None]
    parts = split_by_sharding(weights)
    norms = [whole(get_total_norm([weight.grad for weight in part if weight.grad is not None])) for part in parts]
    norm = norms[0] if len(norms) == 1 else torch.linalg.vector_norm(torch.stack(norms))
    for part in parts:
        clip_grads_with_norm_(part, max_norm, norm)
    return norm


def optimizer_state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Return the state tensors of the optimizer. Keys have the form `weight:tensor`, of their names."""
    return {
        f"{name}:{tensor}": optimizer.state[weight][tensor].detach().contiguous().clone()
        for name, weight in model.named_parameters()
        if weight in optimizer.state
        for tensor in STATE_TENSORS
    }


def load_optimizer_state(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]) -> None:
    """Restore the state of the optimizer from the tensors that `optimizer_state` returned.

    Raises:
        ValueError: if tensors of a weight are missing, have another shape than the weight, or are not float32; or if
            there are tensors of other weights.
    """
    names = {f"{name}:{each}" for name, _ in model.named_parameters() for each in STATE_TENSORS}
    if unknown := tensors.keys() - names:
        raise ValueError(f"the model has no weight for {min(unknown)}")
    for name, weight in model.named_parameters():
        state = {each: tensors[f"{name}:{each}"] for each in STATE_TENSORS if f"{name}:{each}" in tensors}
        if not state:  # a frozen weight has none
            continue
        shapes = {each: tensor.shape for each, tensor in state.items()}
        if shapes != {each: torch.Size() if each == "step" else weight.shape for each in STATE_TENSORS}:
            raise ValueError(f"the state of {name} does not fit the weight")
        if any(tensor.dtype != torch.float32 for tensor in state.values()):
            raise ValueError(f"the state of {name} is not float32")
        optimizer.state[weight] = {
            each: tensor.to(weight.device) if each == "step" else shard_like(tensor, weight)
            for each, tensor in state.items()
        }


@dataclass(frozen=True)
class FreezeSchedule:
    """Decides in which steps of a run the token embeddings are frozen.

    A tied output layer shares the weight of the embeddings, so it is frozen with them.
    """

    options: EmbeddingInitOptions

    @property
    def learning_rate_multiplier(self) -> float:
        """Learning rate of the embeddings, as a multiple of that of the other weights."""
        return self.options.learning_rate_multiplier

    def max_frozen_steps(self, max_steps: int) -> int:
        """Return the maximum number of frozen steps in a run of `max_steps` steps."""
        return round(self.options.freeze_fraction * max_steps)

    def is_frozen(self, step: int, max_steps: int, unfrozen_at: int | None) -> bool:
        """Return whether the embeddings are frozen in a step.

        Args:
            step: step number, from 0.
            max_steps: number of steps of the run.
            unfrozen_at: step at which the embeddings were unfrozen early, or None.
        """
        return step < (self.max_frozen_steps(max_steps) if unfrozen_at is None else unfrozen_at)

    def should_unfreeze(self, previous_loss: float | None, loss: float) -> bool:
        """Return whether to unfreeze the embeddings early, because the validation loss no longer decreases.

        Args:
            previous_loss: validation loss of the previous evaluation, or None if there was no evaluation yet.
            loss: validation loss of the latest evaluation.
        """
        return (
            self.options.unfreeze == "plateau"
            and previous_loss is not None
            and loss > previous_loss * (1 - self.options.plateau_threshold)
        )
