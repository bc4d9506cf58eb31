"""RoBERTa models have as many parameters as `training.studies.downscaling.scaling` computes for their shape."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import SPECIALS

from training.models.build import build_model
from training.models.options import ModelOptions
from training.studies.downscaling.scaling.shape import Shape
from training.studies.downscaling.scaling.shapes import ANCHOR


def counted(shape, vocabulary, tied=False):
    sizes = {
        "num_hidden_layers": shape.layers,
        "hidden_size": shape.hidden,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.intermediate,
    }
    options = ModelOptions(**sizes, tie_word_embeddings=tied, embedding_size=None if tied else shape.embedding)
    with torch.device("meta"):
        model = build_model(options, SPECIALS, vocabulary, 1)
    assert all(weight.requires_grad for weight in model.parameters())
    return sum(weight.numel() for weight in model.parameters())


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("128-32-256-2-2", 3_125_122), ("256-128-512-1-4", 7_601_346), ("128-256-1024-8-8", 13_753_922)],
)
def test_parameters_of_published_shapes(name, parameters):
    shape = Shape.from_name(name)
    assert counted(shape, 19_010) == parameters == shape.parameters()


def test_default_model_is_tied_anchor():
    with torch.device("meta"):
        model = build_model(ModelOptions(), SPECIALS, 19_010, 1)
    assert sum(weight.numel() for weight in model.parameters()) == 11_304_258 == ANCHOR.parameters(tied=True)


@settings(max_examples=25)
@given(
    vocabulary=st.integers(10, 90),
    embedding=st.integers(1, 40),
    hidden=st.sampled_from([4, 8, 32]),
    intermediate=st.integers(1, 70),
    layers=st.integers(1, 3),
    heads=st.sampled_from([1, 2, 4]),
)
def test_parameters_of_any_shape(vocabulary, embedding, hidden, intermediate, layers, heads):
    for rows in (embedding, hidden):
        shape = Shape(rows, hidden, intermediate, layers, heads)
        assert counted(shape, vocabulary) == shape.parameters(vocabulary=vocabulary)
    assert counted(shape, vocabulary, tied=True) == shape.parameters(tied=True, vocabulary=vocabulary)
