"""Parameters of RoBERTa models are as many as the downscaling study counts (SPEC section 7)."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import SPECIALS

from training.models import ModelOptions, build_model

STUDY = ModelOptions(tied=False, embedding=256)


def counted(options, vocabulary):
    with torch.device("meta"):
        model = build_model(options, SPECIALS, vocabulary, 1)
    assert all(weight.requires_grad for weight in model.parameters())
    return sum(weight.numel() for weight in model.parameters())


def params(v, e, h, i, layers):
    """SPEC section 7, for 128 positions."""
    return (
        (v + 130 + 2) * e
        + 2 * e
        + (e * h + h + 2 * h)
        + layers * (4 * (h * h + h) + 2 * h + (h * i + i) + (i * h + h) + 2 * h)
        + (h * h + h)
        + 2 * h
        + h * v
        + v
    )


def params_tied(v, h, i, layers):
    return params(v, h, h, i, layers) - h * v - (h * h + 3 * h)


@pytest.mark.parametrize(
    ("embedding", "width", "inner", "layers", "parameters"),
    [(128, 32, 256, 2, 3_125_122), (256, 128, 512, 1, 7_601_346), (128, 256, 1024, 8, 13_753_922)],
)
def test_parameters_are_those_of_the_study(embedding, width, inner, layers, parameters):
    options = dataclasses.replace(STUDY, embedding=embedding, width=width, inner=inner, layers=layers)
    assert counted(options, 19_010) == parameters == params(19_010, embedding, width, inner, layers)


def test_the_tied_model_has_as_many_as_the_study_counts():
    assert counted(ModelOptions(), 19_010) == 11_304_258 == params_tied(19_010, 256, 1024, 8)


@settings(max_examples=25)
@given(
    vocabulary=st.integers(10, 90),
    embedding=st.integers(1, 40),
    width=st.sampled_from([4, 8, 32]),
    inner=st.integers(1, 70),
    layers=st.integers(1, 3),
    heads=st.sampled_from([1, 2, 4]),
)
def test_parameters_are_those_of_the_formulas(vocabulary, embedding, width, inner, layers, heads):
    options = ModelOptions(layers=layers, width=width, heads=heads, inner=inner)
    assert counted(options, vocabulary) == params_tied(vocabulary, width, inner, layers)
    for rows in (embedding, width):
        projected = dataclasses.replace(options, tied=False, embedding=rows)
        assert counted(projected, vocabulary) == params(vocabulary, rows, width, inner, layers)
