"""Layers whose activations are computed again, or that are compiled, compute the same."""

from functools import partialmethod

import pytest
import torch
from tiny_models import KINDS, batch_of, model_of
from torch._dynamo.utils import counters

from training.models.parts import compile_layers, hidden_states

FAMILIES = [kind for kind in KINDS if "," not in kind]


def gradients_of(model, batch):
    torch.manual_seed(3)
    hidden_states(model, batch).square().sum().backward()
    return [weight.grad for weight in model.parameters()]


def kept_bytes(model, batch):
    """Return the size of the activations that are kept for the backward pass."""
    sizes = []

    def note(tensor):
        sizes.append(tensor.nbytes)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        hidden_states(model, batch)
    return sum(sizes)


@pytest.mark.parametrize("kind", FAMILIES)
def test_activations_that_are_computed_again_give_the_same_gradients(kind):
    batch = batch_of(kind)
    plain, checkpointed = model_of(kind), model_of(kind)
    checkpointed.activation_checkpointing_enable()
    assert kept_bytes(checkpointed, batch) < kept_bytes(plain, batch) / 5
    for one, other in zip(gradients_of(checkpointed, batch), gradients_of(plain, batch), strict=True):
        assert (one is None and other is None) or torch.equal(one, other)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bert", "deberta", "t5"])
def test_compiled_layers_are_those_that_are_called(kind, monkeypatch):
    # The default backend compiles C++ for minutes.
    monkeypatch.setattr(torch.nn.Module, "compile", partialmethod(torch.nn.Module.compile, backend="eager"))
    torch._dynamo.reset()
    batch, model = batch_of(kind), model_of(kind).eval()
    expected = hidden_states(model, batch)
    compile_layers(model)
    counters.clear()
    torch.testing.assert_close(hidden_states(model, batch), expected)
    assert counters["stats"]["unique_graphs"] >= (2 if kind == "t5" else 1)
