"""Data types of matrix products, and the scale that keeps gradients within the range of float16."""

import torch

from training.loop.distributed import World
from training.loop.options import LoopOptions
from training.loop.training_state import TrainingState

_DTYPES = {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}


def autocast_dtype(world: World, options: LoopOptions) -> torch.dtype | None:
    """Return the data type of matrix products, or None for that of the weights.

    `auto` is bfloat16 on GPUs that compute with it, float16 on older ones, which emulate bfloat16 more slowly than they
    compute in float32, and float32 on CPUs.
    """
    if options.precision != "auto":
        return _DTYPES[options.precision]
    if world.device.type != "cuda":
        return None
    return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16


def autocast(world: World, options: LoopOptions) -> torch.autocast:
    """Return the autocast context of the loop's precision on a device."""
    dtype = autocast_dtype(world, options)
    return torch.autocast(world.device.type, dtype or torch.bfloat16, enabled=dtype is not None)


def make_scaler(world: World, options: LoopOptions) -> torch.amp.GradScaler:
    """Return the scale of the loss, without which small gradients are 0 in float16. It is 1 in other types.

    A step whose scaled gradients are not finite is skipped, and the scale is halved. After 2,000 steps without such a
    step, it is doubled.
    """
    return torch.amp.GradScaler(world.device.type, enabled=autocast_dtype(world, options) is torch.float16)


def can_lower(scaler: torch.amp.GradScaler) -> bool:
    """Return whether gradients that are not finite can be due to the scale, so that a smaller one may help."""
    return scaler.is_enabled() and scaler.get_scale() > 1


def with_scale(state: TrainingState, scaler: torch.amp.GradScaler) -> TrainingState:
    """Return the progress of a run with the scale."""
    values = scaler.state_dict()
    if not values:
        return state
    return state.model_copy(update={"loss_scale": values["scale"], "loss_scale_steps": values["_growth_tracker"]})


def restore_scale(scaler: torch.amp.GradScaler, state: TrainingState) -> None:
    """Set the scale to that of the progress of a run, if it has one."""
    if state.loss_scale is not None:
        progress = {"scale": state.loss_scale, "_growth_tracker": state.loss_scale_steps}
        scaler.load_state_dict(scaler.state_dict() | progress)
