"""Hidden states of every layer, and metrics of target tokens, for tiny models of each architecture."""

import numpy as np
import pytest
import torch

from training.data.special_tokens import SpecialTokens
from training.models.build import build_model
from training.models.options import ModelOptions
from training.models.parts import hidden_states, logits
from training.studies.class_centers.layer_analysis.hidden_states import layer_states
from training.studies.class_centers.layer_analysis.token_classes import frequent_tokens
from training.studies.class_centers.layer_analysis.token_metrics import token_metrics

torch.set_num_threads(1)

SPECIALS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=(5, 6, 7, 8))
VOCABULARY, LENGTH, LAYERS, WIDTH = 40, 10, 3, 16
NARROW = "roberta of narrow rows"
FAMILIES = ["bert", "roberta", "modernbert", "deberta", NARROW, "gpt2", "opt", "t5"]


def model_of(family: str):
    sizes = {
        "num_hidden_layers": LAYERS,
        "hidden_size": WIDTH,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": LENGTH,
    }
    if family == NARROW:
        sizes |= {"embedding_size": 6, "tie_word_embeddings": False}
    return build_model(ModelOptions(architecture=family.split()[0], **sizes), SPECIALS, VOCABULARY, 1).eval()


def batch_of(family: str, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    batch = {"input_ids": random.integers(9, VOCABULARY, (4, LENGTH))}
    if family == "t5":
        return batch | {key: random.integers(9, 20, (4, 5)) for key in ("decoder_input_ids", "labels")}
    if family in ("bert", "roberta", "modernbert", "deberta", NARROW):
        return batch | {"positions": np.array([3, 7, 12, 30]), "labels": random.integers(9, 14, 4)}
    return batch | {"labels": random.integers(9, 20, (4, LENGTH))}


@pytest.mark.parametrize("family", FAMILIES)
def test_last_layer_state_is_input_of_head(family):
    model, batch = model_of(family), batch_of(family, 0)
    states = layer_states(model, batch)
    assert len(states) == 1 + LAYERS
    width = 5 if family == "t5" else LENGTH
    assert {tuple(state.shape) for state in states} == {(4, width, WIDTH)}
    with torch.no_grad():
        last = hidden_states(model, {name: torch.from_numpy(array) for name, array in batch.items()})
    torch.testing.assert_close(states[-1], last)
    assert not torch.allclose(states[0], states[1])


def test_t5_without_decoder_inputs_returns_encoder_states():
    model, batch = model_of("t5"), batch_of("t5", 0)
    states = layer_states(model, {"input_ids": batch["input_ids"]})
    assert len(states) == 1 + LAYERS
    torch.testing.assert_close(states[0], model.shared(torch.from_numpy(batch["input_ids"])))


@pytest.mark.parametrize("family", FAMILIES)
def test_token_metrics_match_plain_loops(family):
    model = model_of(family)
    train, held_out = [batch_of(family, seed) for seed in range(3)], [batch_of(family, 9)]
    tokens = frequent_tokens(train, 3, SPECIALS)
    metrics = token_metrics(model, train, held_out, tokens)

    def samples(batches):
        for batch in batches:
            states = [state.flatten(0, 1) for state in layer_states(model, batch)]
            offsets = batch.get("positions", np.arange(batch["labels"].size))
            for offset, label in zip(offsets, batch["labels"].ravel(), strict=True):
                if label in tokens:
                    likeliest = logits(model, states[-1][offset])[torch.from_numpy(tokens)].argmax()
                    yield [state[offset].numpy() for state in states], tokens.tolist().index(label), int(likeliest)

    for part, batches in (("train", train), ("held out", held_out)):
        with torch.no_grad():
            train_samples, part_samples = list(samples(train)), list(samples(batches))
        for layer in range(1 + LAYERS):
            centers = [
                np.mean([states[layer] for states, c, _ in train_samples if c == number], axis=0) for number in range(3)
            ]
            nearest = [
                int(np.argmin([np.linalg.norm(s[layer] - center) for center in centers])) for s, *_ in part_samples
            ]
            triples = [(near, c, predicted) for near, (_, c, predicted) in zip(nearest, part_samples, strict=True)]
            assert metrics[part, "ncc_accuracy"][layer] == pytest.approx(np.mean([n == c for n, c, _ in triples]))
            assert metrics[part, "ncc_mismatch"][layer] == pytest.approx(np.mean([n != p for n, _, p in triples]))
            assert metrics[part, "model_accuracy"][layer] == pytest.approx(np.mean([p == c for _, c, p in triples]))


def test_split_without_samples_has_nan_metrics():
    train = [batch_of("gpt2", 0)]
    tokens = frequent_tokens(train, 3, SPECIALS)
    metrics = token_metrics(model_of("gpt2"), train, [], tokens)
    assert np.isnan(metrics["held out", "ncc_accuracy"]).all()
    assert np.isfinite(metrics["train", "ncc_accuracy"]).all()
