"""The network from bytes to vectors, against a plain computation, and its sizes in the paper."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from training.studies.byte_embeddings.byte_ids import BEGIN, END, MAX_BYTES, PADDING, to_byte_ids
from training.studies.byte_embeddings.bytes_cnn import BytesCNN

TOKENS = st.text(max_size=60)


@pytest.mark.parametrize(("size", "parameters"), [("small", 18_562_416), ("big", 70_674_288)])
def test_network_has_the_parameters_of_table_1(size, parameters):
    with torch.device("meta"):
        network = BytesCNN(size, 768)
    assert sum(parameter.numel() for parameter in network.parameters()) == parameters


@given(st.lists(TOKENS, max_size=6))
def test_ids_hold_the_bytes_of_tokens(tokens):
    ids = to_byte_ids(tokens)
    for row, token in zip(ids, tokens, strict=True):
        content = token.encode("utf-8", "surrogatepass")[:MAX_BYTES]
        assert row[0] == BEGIN
        assert row[len(content) + 1] == END
        assert bytes((row[1 : len(content) + 1] - 1).tolist()) == content
        assert (row[len(content) + 2 :] == PADDING).all()


@given(st.lists(TOKENS, min_size=1, max_size=5))
@settings(max_examples=20, deadline=None)
def test_vector_does_not_depend_on_the_other_tokens(tokens):
    network = BytesCNN("small", 8)
    together = network.embed(tokens)
    for token, vector in zip(tokens, together, strict=True):
        assert torch.allclose(network.embed([token])[0], vector, atol=1e-5)


def test_vector_equals_a_plain_computation():
    network = BytesCNN("small", 4)
    arrays = {name: value.numpy() for name, value in network.state_dict().items()}
    ids = np.concatenate([to_byte_ids(["cat"])[0], np.zeros(7, np.int64)])
    inputs = arrays["bytes.weight"][ids]
    features = []
    for number in range(7):
        weight, bias = arrays[f"convolutions.{number}.weight"], arrays[f"convolutions.{number}.bias"]
        kernel = weight.shape[2]
        values = [
            np.einsum("oik,ki->o", weight, inputs[start : start + kernel]) + bias
            for start in range(len(ids) - kernel + 1)
        ]
        features.append(np.maximum(np.max(values, axis=0), 0))
    state = np.concatenate(features)
    for number in range(2):
        weight, bias = arrays[f"highways.{number}.linear.weight"], arrays[f"highways.{number}.linear.bias"]
        transformed, gate = np.split(weight @ state + bias, 2)
        gate = 1 / (1 + np.exp(-gate))
        state = gate * state + (1 - gate) * np.maximum(transformed, 0)
    expected = arrays["projection.weight"] @ state + arrays["projection.bias"]
    assert network.embed(["cat"])[0].numpy() == pytest.approx(expected, abs=1e-4)


def test_no_tokens_have_no_vectors():
    assert BytesCNN("small", 8).embed([]).shape == (0, 8)
