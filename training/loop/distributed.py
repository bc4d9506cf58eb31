"""Which worker this is, and how many there are: of the process group if one was made, else alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist

from bitcipher.errors import BitcipherError


@dataclass(frozen=True)
class World:
    """One worker among others."""

    rank: int
    size: int
    device: torch.device

    @classmethod
    def here(cls, device: str) -> "World":
        """This worker, with the device that was asked for.

        Args:
            device: cpu, cuda, or auto: a GPU if there is one.

        Raises:
            BitcipherError: if a GPU was asked for and there is none.
        """
        there_is_one = torch.cuda.is_available()
        if device == "cuda" and not there_is_one:
            raise BitcipherError("There is no GPU that torch can use here: choose device auto or cpu.")
        chosen = torch.device("cuda", torch.cuda.current_device()) if there_is_one and device != "cpu" else "cpu"
        grouped = dist.is_available() and dist.is_initialized()
        rank, size = (dist.get_rank(), dist.get_world_size()) if grouped else (0, 1)
        return cls(rank, size, torch.device(chosen))

    def add_up(self, tensors: Sequence[torch.Tensor]) -> None:
        """Put into each tensor its sum over all workers."""
        if self.size == 1 or not tensors:
            return
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        dist.all_reduce(flat)
        for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(part.view_as(tensor))

    def wait(self) -> None:
        """Go on when all workers are here."""
        if self.size > 1:
            dist.barrier()
