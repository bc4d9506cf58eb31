"""Draws from a made stream of tokens, tiny models, and what transformers says to the same examples."""

import numpy as np
import torch

from training.data import SpecialTokens
from training.models import ModelOptions, build_model
from training.objectives import BatchContext

torch.set_num_threads(1)

VOCABULARY = 80
SPECIALS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=tuple(range(5, 15)))
FIRST_WORD = 15  # the lowest token that is text
TOKENS = 40_000


class MadeSequences:
    """`Sequences` over tokens that are made, with an end token after each document of some 30."""

    def __init__(self, length: int, tokens: int = TOKENS):
        random = np.random.default_rng(0)
        stream = random.integers(FIRST_WORD, VOCABULARY, tokens)
        stream[random.random(tokens) < 1 / 30] = SPECIALS.end
        self._rows = stream[: tokens // length * length].reshape(-1, length)

    def __len__(self) -> int:
        return len(self._rows)

    def take(self, numbers: np.ndarray) -> np.ndarray:
        return self._rows[numbers]


def draw_of(objective, length: int, rows: int, *, first: int = 0, key: int = 7, **changed) -> BatchContext:
    sequences = changed.pop("sequences", None) or MadeSequences(objective.text_length(length))
    names = np.arange(first, first + rows)
    given = {"numbers": names % len(sequences), "rows": names, "tokens": SPECIALS, "vocabulary": VOCABULARY} | changed
    return BatchContext(sequences=sequences, key=key, **given)


def model_for(architecture: str, positions: int, **changed):
    options = ModelOptions(
        architecture, layers=1, width=16, heads=2, inner=32, positions=positions, dropout=0.0, **changed
    )
    return build_model(options, SPECIALS, VOCABULARY, 1)


def tensors(batch: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in batch.items()}


def labels_everywhere(batch: dict[str, np.ndarray]) -> np.ndarray:
    """[B, length]: as transformers has labels, -100 where nothing is predicted."""
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
