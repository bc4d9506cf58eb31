"""Layers whose weights are distributed over the workers (FSDP), for models that do not fit in one device's memory.

Every worker holds a shard of each weight of a layer, of its gradient and of AdamW's state. The weights of a layer are
gathered when it is computed. Embeddings and heads stay whole on every worker, because objectives call parts of a model.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from training.loop.distributed import World
from training.loop.options import LoopOptions
from training.loop.precision import autocast_dtype
from training.models.parts import model_layers

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
