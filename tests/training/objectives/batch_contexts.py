"""Batch contexts over random tokens, tiny models, and comparisons with transformers."""

import numpy as np
import torch

from training.data import SpecialTokens
from training.models import ModelOptions, build_model
from training.objectives import BatchContext

torch.set_num_threads(1)

VOCABULARY = 80
SPECIALS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=tuple(range(5, 15)))
FIRST_WORD = 15  # lowest id of a text token
TOKENS = 40_000


class RandomSequences:
    """`Sequences` of random tokens, with documents of about 30 tokens."""

    def __init__(self, length: int, tokens: int = TOKENS):
        random = np.random.default_rng(0)
        stream = random.integers(FIRST_WORD, VOCABULARY, tokens)
        stream[random.random(tokens) < 1 / 30] = SPECIALS.end
        self._rows = stream[: tokens // length * length].reshape(-1, length)

    def __len__(self) -> int:
        return len(self._rows)

    def take(self, ids: np.ndarray) -> np.ndarray:
        return self._rows[ids]


def make_context(objective, length: int, rows: int, *, first: int = 0, key: int = 7, **changed) -> BatchContext:
    sequences = changed.pop("sequences", None) or RandomSequences(objective.text_length(length))
    names = np.arange(first, first + rows)
    given = {
        "sequence_ids": names % len(sequences),
        "row_ids": names,
        "special_tokens": SPECIALS,
        "vocab_size": VOCABULARY,
    } | changed
    return BatchContext(sequences=sequences, rng_key=key, **given)


def model_for(architecture: str, positions: int, **changed):
    options = ModelOptions(
        architecture=architecture,
        num_hidden_layers=1,
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=positions,
        dropout=0.0,
        **changed,
    )
    return build_model(options, SPECIALS, VOCABULARY, 1)


def tensors(batch: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in batch.items()}


def dense_labels(batch: dict[str, np.ndarray]) -> np.ndarray:
    """Return the labels [B, length] as transformers takes them, -100 at positions without a prediction."""
    labels = np.full(batch["input_ids"].shape, -100)
    labels.flat[batch["positions"]] = batch["labels"]
    return labels


def gradients(model, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    model.zero_grad()
    loss.backward()
    return {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}


def assert_same_gradients(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-4, atol=1e-5, msg=name)
