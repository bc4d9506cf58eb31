"""Rank, device and collective operations of a worker."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
import torch.distributed as dist

from bitcipher.errors import BitcipherError


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
