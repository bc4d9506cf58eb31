"""Gradients are summed over workers in buckets, and sent while the backward pass goes on."""

import pytest
import torch
from two_processes import on_two

from training.loop import step
from training.loop.distributed import World
from training.loop.step import split_into_buckets, summing_gradients


def test_buckets_have_all_weights_in_their_order():
    weights = [torch.zeros(size) for size in (3, 1, 6, 2, 2)]
    buckets = split_into_buckets(weights, 16)
    assert [[len(weight) for weight in bucket] for bucket in buckets] == [[3, 1], [6], [2, 2]]


def loss_of(layers, rows):
    """Return a loss that uses the second layer twice, and neither the first nor the last."""
    return layers[3](layers[2](layers[1](layers[1](rows).tanh())).tanh()).square().sum()


def make_layers(unused):
    torch.manual_seed(1)
    layers = torch.nn.ModuleList(torch.nn.Linear(5, 5, bias=False) for _ in range(5))
    for number in {0, 2, 4} - {unused}:
        layers[number].requires_grad_(False)
    return layers


def rows_of(rank, number):
    return torch.randn(4, 5, generator=torch.Generator().manual_seed(10 * rank + number))


class Recording(World):
    """A world that notes whether a backward pass runs when an all-reduce is started."""

    is_in_backward = False
    notes = ()

    def start_all_reduce(self, tensors):
        Recording.notes += (Recording.is_in_backward,)
        return super().start_all_reduce(tensors)


def sum_on_a_worker(config):
    step.BUCKET_BYTES = 1  # a bucket per weight
    world = World.current("cpu")
    layers = make_layers(config["unused"])
    with summing_gradients(layers, Recording(world.rank, world.size, world.device), 3):
        for number in range(3):
            loss = loss_of(layers, rows_of(world.rank, number))
            Recording.is_in_backward = True
            loss.backward()
            Recording.is_in_backward = False
    expected = make_layers(config["unused"])
    for rank in range(2):
        for number in range(3):
            loss_of(expected, rows_of(rank, number)).backward()
    for weight, other in zip(layers.parameters(), expected.parameters(), strict=True):
        assert (weight.grad is None) == (other.grad is None)
        if other.grad is not None:
            torch.testing.assert_close(weight.grad, other.grad)
    assert list(Recording.notes) == config["sent_in_backward"]


@pytest.mark.parametrize(
    ("unused", "sent_in_backward"),
    [(0, [True, True, False]), (4, [False, False, False])],
    ids=["first layer is unused", "last layer is unused"],
)
def test_two_workers_get_the_gradients_of_one(unused, sent_in_backward):
    on_two(sum_on_a_worker, {"unused": unused, "sent_in_backward": sent_in_backward})
