"""Sums of gradients over workers, in buckets that are sent while the backward pass computes other gradients.

torch's DistributedDataParallel does this for models that are called as a whole. Objectives call parts of a model.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch.distributed.tensor import DTensor

from training.loop.distributed import World

# Size of a bucket, as in DistributedDataParallel: smaller ones have more overhead, larger ones begin later.
BUCKET_BYTES = 25 << 20


@contextmanager
def summing_gradients(model: torch.nn.Module, world: World, n_passes: int) -> Iterator[None]:
    """Sum the gradients of a model over all workers: those of `n_passes` backward passes in this context.

    A bucket of weights is sent as soon as the last pass has computed all of its gradients, and all buckets before it
    are sent. Whatever is left, such as buckets with a weight that the loss does not depend on, is sent at the end. So
    all workers send the same buckets in the same order. FSDP itself sums the gradients of sharded weights.

    Args:
        model: model; weights that are frozen are ignored.
        world: this worker.
        n_passes: number of backward passes in the context.
    """
    if world.size == 1:
        yield
        return
    # Backward passes begin at the last weights.
    weights = [
        weight
        for weight in reversed(list(model.parameters()))
        if weight.requires_grad and not isinstance(weight, DTensor)
    ]
    sums = _BucketSums(split_into_buckets(weights, BUCKET_BYTES), world, n_passes)
    hooks = [weight.register_post_accumulate_grad_hook(sums.note) for weight in weights]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
    sums.finish()


def split_into_buckets(weights: Sequence[torch.Tensor], size: int) -> list[list[torch.Tensor]]:
    """Return the weights in their order, in buckets of at least `size` bytes each, except the last one."""
    buckets: list[list[torch.Tensor]] = [[]]
    n_bytes = 0
    for weight in weights:
        if n_bytes >= size:
            buckets.append([])
            n_bytes = 0
        buckets[-1].append(weight)
        n_bytes += weight.nbytes
    return buckets


class _BucketSums:
    """All-reduces of buckets of gradients, each started when it is complete and those before are started."""

    def __init__(self, buckets: list[list[torch.Tensor]], world: World, n_passes: int):
        self._buckets, self._world = buckets, world
        self._bucket_of = {weight: number for number, bucket in enumerate(buckets) for weight in bucket}
        self._n_missing = [len(bucket) * n_passes for bucket in buckets]
        self._started: list[Callable[[], None]] = []

    def note(self, weight: torch.Tensor) -> None:
        """Note that a backward pass has computed the gradient of a weight."""
        self._n_missing[self._bucket_of[weight]] -= 1
        while len(self._started) < len(self._buckets) and self._n_missing[len(self._started)] == 0:
            self._start(self._buckets[len(self._started)])

    def finish(self) -> None:
        """Start the other buckets, and wait for all of them."""
        for bucket in self._buckets[len(self._started) :]:
            self._start(bucket)
        for wait in self._started:
            wait()

    def _start(self, bucket: list[torch.Tensor]) -> None:
        gradients = [weight.grad for weight in bucket if weight.grad is not None]
        self._started.append(self._world.start_all_reduce(gradients))
