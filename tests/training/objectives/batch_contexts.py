"""Batch contexts over random tokens, tiny models, and comparisons with transformers."""

import numpy as np
import torch

from training.data.special_tokens import SpecialTokens
from training.data.token_streams import Sequences
from training.models.build import build_model
from training.models.options import ModelOptions
from training.objectives.base import BatchContext

torch.set_num_threads(1)

VOCABULARY = 80
SPECIALS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=tuple(range(5, 15)))
FIRST_WORD = 15  # lowest id of a text token
TOKENS = 40_000


class RandomStream:
    """`TokenStream` of random tokens, with documents of about 30 tokens."""

    def __init__(self, n_tokens: int):
        random = np.random.default_rng(0)
        self.tokens = random.integers(FIRST_WORD, VOCABULARY, n_tokens)
        self.tokens[random.random(n_tokens) < 1 / 30] = SPECIALS.end
        # No document is empty, and the last one ends.
        self.tokens[1:][self.tokens[:-1] == SPECIALS.end] = FIRST_WORD
        self.tokens[0], self.tokens[-2:] = FIRST_WORD, (FIRST_WORD, SPECIALS.end)
        self.ends = np.flatnonzero(self.tokens == SPECIALS.end) + 1

    def __len__(self) -> int:
        return len(self.tokens)

    def read(self, starts: np.ndarray, length: int) -> np.ndarray:
        return self.tokens[starts[:, None] + np.arange(length)]


def random_sequences(length: int, n_tokens: int = TOKENS) -> Sequences:
    """Return sequences of random tokens."""
    return Sequences(RandomStream(n_tokens), length)


def make_context(objective, length: int, rows: int, *, first: int = 0, key: int = 7, **changed) -> BatchContext:
    sequences = changed.pop("sequences", None) or random_sequences(objective.text_length(length))
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
