"""Workers of a run: rank and device, data types of their matrix products, and models that are sharded over them (FSDP).

With FSDP, for models that do not fit in the memory of one device, every worker holds a shard of each weight of a layer,
of its gradient and of AdamW's state. The weights of a layer are gathered when it is computed. Embeddings and heads stay
whole on every worker, because objectives call parts of a model.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from training.loop.checkpoint_folders import TrainingState
from training.loop.options import LoopOptions
from training.models.parts import model_layers


def choose_device(device: str, option: str) -> torch.device:
    """Return the device of this process.

    Args:
        device: `cpu`, `cuda`, or `auto`: a GPU if there is one.
        option: name of the option that gave the device, for the error.

    Raises:
        BitcipherError: if `cuda` is requested and there is no GPU.
    """
    has_gpu = torch.cuda.is_available()
    if device == "cuda" and not has_gpu:
        raise BitcipherError(f"There is no GPU that torch can use; set `{option}` to auto or cpu.")
    return torch.device("cuda", torch.cuda.current_device()) if has_gpu and device != "cpu" else torch.device("cpu")


@dataclass(frozen=True)
class World:
    """A worker's view of torch's process group. A process without a group is a single worker."""

    rank: int
    """Number of this worker, from 0."""
    size: int
    """Number of workers."""
    device: torch.device
    """Device of this worker."""

    @classmethod
    def current(cls, device: str) -> "World":
        """Return the world of the current process.

        Args:
            device: `cpu`, `cuda`, or `auto`: a GPU if there is one.

        Raises:
            BitcipherError: if `cuda` is requested and there is no GPU.
        """
        has_group = dist.is_available() and dist.is_initialized()
        rank, size = (dist.get_rank(), dist.get_world_size()) if has_group else (0, 1)
        return cls(rank, size, choose_device(device, "loop.device"))

    def all_reduce(self, tensors: Sequence[torch.Tensor]) -> None:
        """Replace each tensor with its sum over all workers, in one all-reduce."""
        self.start_all_reduce(tensors)()

    def start_all_reduce(self, tensors: Sequence[torch.Tensor]) -> Callable[[], None]:
        """Begin an all-reduce, and return a function that waits for it and replaces each tensor with its sum.

        All workers must start their all-reduces in the same order.
        """
        if self.size == 1 or not tensors:
            return lambda: None
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        work = cast(dist.Work, dist.all_reduce(flat, async_op=True))

        def finish() -> None:
            work.wait()
            for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
                tensor.copy_(part.view_as(tensor))

        return finish

    def any_worker(self, value: bool) -> bool:
        """Return whether a value is true on any worker."""
        if self.size == 1:
            return value
        flag = torch.tensor([float(value)], device=self.device)
        self.all_reduce([flag])
        return bool(flag)

    def barrier(self) -> None:
        """Wait until all workers have reached this point."""
        if self.size > 1:
            dist.barrier()


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


AnyTensor = TypeVar("AnyTensor", bound=torch.Tensor)


def shard_layers(model: PreTrainedModel, world: World, options: LoopOptions) -> None:
    """Distribute the weights of each layer of a model over the workers. A single worker keeps all of them.

    Gradients of these weights are summed over the workers in the backward pass, when a layer is complete.

    Args:
        model: model on the CPU, with the same weights on every worker.
        world: this worker.
        options: options of the loop.

    Raises:
        BitcipherError: if products are in float16, whose scale would need the gradients of all workers.
    """
    if world.size == 1:
        return
    if autocast_dtype(world, options) is torch.float16:
        raise BitcipherError("`loop.fsdp` does not support float16; set `loop.precision` to bfloat16 or float32.")
    mesh = init_device_mesh(world.device.type, (world.size,))
    for layer in list(model_layers(model)):
        # Objectives call parts of the model, so each layer is a root of its own, whose weights would by default stay
        # gathered after its forward pass.
        sharded = fully_shard(layer, mesh=mesh, reshard_after_forward=True)
        assert isinstance(sharded, FSDPModule)
        # Sums instead of means, as of other gradients.
        sharded.set_gradient_divide_factor(1.0)
        sharded.set_force_sum_reduction_for_comms(True)


def split_by_sharding(tensors: Iterable[AnyTensor]) -> list[list[AnyTensor]]:
    """Return the tensors that are sharded and those that are not; a list that would be empty is left out.

    torch's operations on lists of tensors do not take both kinds together.
    """
    lists: tuple[list[AnyTensor], list[AnyTensor]] = ([], [])
    for tensor in tensors:
        lists[not isinstance(tensor, DTensor)].append(tensor)
    return [each for each in lists if each]


def is_sharded(model: torch.nn.Module) -> bool:
    """Return whether `shard_layers` has distributed weights of the model."""
    return any(isinstance(weight, DTensor) for weight in model.parameters())


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return a sharded tensor as a whole; another one as it is. All workers must call this together."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def own_shard(tensor: torch.Tensor) -> torch.Tensor:
    """Return this worker's shard of a tensor; another one as it is."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def shard_like(tensor: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return a whole tensor on the device of a weight, and sharded like it. All workers must call this together."""
    tensor = tensor.to(weight.device)
    if not isinstance(weight, DTensor):
        return tensor
    # Every worker has the whole tensor, so none is sent.
    return distribute_tensor(tensor, weight.device_mesh, weight.placements, src_data_rank=None)


def gather(tensors: Mapping[str, torch.Tensor], *, keep: bool) -> dict[str, torch.Tensor]:
    """Return all tensors as wholes, the sharded ones on the CPU, or an empty dictionary if `keep` is false.

    All workers must call this together.
    """
    gathered = {}
    for name, tensor in tensors.items():
        complete = whole(tensor)
        if keep:
            gathered[name] = complete.cpu() if isinstance(tensor, DTensor) else complete
    return gathered
