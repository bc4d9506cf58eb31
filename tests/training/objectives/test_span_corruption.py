import dataclasses
from collections import Counter

import numpy as np
import pytest
import torch
from batch_contexts import (
    FIRST_WORD,
    SPECIALS,
    VOCABULARY,
    assert_same_gradients,
    gradients,
    make_context,
    model_for,
    random_sequences,
    tensors,
)
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.objectives.span_corruption import SpanCorruption

LENGTH = 40
MANY = dataclasses.replace(SPECIALS, sentinels=tuple(range(VOCABULARY, VOCABULARY + 100)))


def pieces_of(tokens: np.ndarray) -> dict[int, list[int]]:
    """Return the tokens after each sentinel, without the end token; -1 is the key of those before the first."""
    pieces, sentinel = {-1: []}, -1
    for token in tokens[:-1].tolist():
        if token in MANY.sentinels:
            pieces[sentinel := token] = []
        else:
            pieces[sentinel].append(token)
    return pieces


def rebuilt(inputs: np.ndarray, labels: np.ndarray) -> list[int]:
    """Return the original text of inputs and labels."""
    lost = pieces_of(labels)
    text = []
    for token in inputs[:-1].tolist():
        text += lost[token] if token in MANY.sentinels else [token]
    return text


@given(st.integers(3, 150), st.floats(0.01, 0.5), st.floats(1, 10), st.integers(0, 2**62), st.integers(0, 2**40))
def test_text_can_be_reconstructed(length, density, mean_span, key, first):
    objective = SpanCorruption(noise_density=density, mean_noise_span_length=mean_span)
    sequences = random_sequences(objective.text_length(length), 3000)
    context = make_context(objective, length, 5, first=first, key=key, sequences=sequences, special_tokens=MANY)
    batch = objective.make_batch(context)
    assert batch["input_ids"].shape == (5, length)
    for inputs, labels, text in zip(
        batch["input_ids"], batch["labels"], sequences.take(context.sequence_ids), strict=True
    ):
        assert inputs[-1] == labels[-1] == SPECIALS.end
        assert rebuilt(inputs, labels) == text.tolist()
        order = [token for token in inputs if token in MANY.sentinels]
        assert order == list(MANY.sentinels[: len(order)]) == [token for token in labels if token in MANY.sentinels]
        # Labels begin with a sentinel, no span is empty, and no two sentinels are adjacent in the inputs.
        assert pieces_of(labels).pop(-1) == []
        kept, lost = pieces_of(inputs), pieces_of(labels)
        assert all(kept.pop(sentinel) or sentinel == order[-1] for sentinel in list(kept))
        assert all(lost[sentinel] for sentinel in order)


def test_lengths_match_paper():
    # Raffel et al. 2020: inputs of 512 with density 0.15 and spans of 3 take 568 text tokens and give 114 targets.
    objective = SpanCorruption()
    assert objective.text_length(512) == 568
    batch = objective.make_batch(make_context(objective, 512, 2, special_tokens=MANY))
    assert batch["input_ids"].shape == (2, 512)
    assert batch["labels"].shape == batch["decoder_input_ids"].shape == (2, 114)
    assert objective.count_targets(batch) == 2 * 114


def test_decoder_inputs_are_shifted_labels():
    objective, model = SpanCorruption(), model_for("t5", LENGTH)
    batch = objective.make_batch(make_context(objective, LENGTH, 3))
    expected = model.prepare_decoder_input_ids_from_labels(torch.from_numpy(batch["labels"]))
    np.testing.assert_array_equal(batch["decoder_input_ids"], expected)


@pytest.mark.parametrize("tied", [True, False])
def test_loss_and_gradients_match_transformers(tied):
    objective, model = SpanCorruption(), model_for("t5", LENGTH, tie_word_embeddings=tied)
    batch = objective.make_batch(make_context(objective, LENGTH, 5))
    given = tensors(batch)
    loss = objective.loss(model, given)
    expected = model(input_ids=given["input_ids"], labels=given["labels"]).loss * objective.count_targets(batch)
    torch.testing.assert_close(loss, expected)
    assert_same_gradients(gradients(model, loss), gradients(model, expected))


def test_metrics_are_with_and_without_sentinels():
    objective, model = SpanCorruption(), model_for("t5", LENGTH)
    batch = objective.make_batch(make_context(objective, LENGTH, 5))
    given = tensors(batch)
    sums = objective.row_sums(model, given)
    assert set(sums) == set(objective.metrics)
    torch.testing.assert_close(sums["perplexity"].sum(0)[0].float(), objective.loss(model, given))
    assert sums["perplexity"][:, 1].sum() == objective.count_targets(batch)
    labels = given["labels"].clone()
    labels[torch.isin(labels, torch.tensor(SPECIALS.sentinels))] = -100
    labels[:, -1] = -100
    expected = model(
        input_ids=given["input_ids"], decoder_input_ids=given["decoder_input_ids"], labels=labels
    ).loss  # a mean
    total, count = sums["perplexity_without_sentinels"].sum(0)
    assert count == (labels != -100).sum()
    torch.testing.assert_close((total / count).float(), expected)


def test_rows_do_not_depend_on_batch():
    objective = SpanCorruption()
    whole = objective.make_batch(make_context(objective, LENGTH, 20))
    parts = [
        objective.make_batch(make_context(objective, LENGTH, size, first=first))
        for first, size in ((0, 3), (3, 1), (4, 16))
    ]
    for name in whole:
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), whole[name])


def test_partitions_are_uniform():
    # 4 of 8 tokens are noise in 2 spans: 1 + 3, 2 + 2 or 3 + 1, and the same for the text.
    objective = SpanCorruption(noise_density=0.5, mean_noise_span_length=2)
    length = 4 + 2 + 1
    assert objective.text_length(length) == 8
    batch = objective.make_batch(make_context(objective, length, 9000, sequences=random_sequences(8, 800)))
    ways = Counter()
    for inputs, labels in zip(batch["input_ids"], batch["labels"], strict=True):
        first, second = SPECIALS.sentinels[:2]
        ways[inputs.tolist().index(first), labels.tolist().index(second) - 1] += 1
    assert set(ways) == {(kept, lost) for kept in (1, 2, 3) for lost in (1, 2, 3)}
    assert all(count == pytest.approx(1000, rel=0.15) for count in ways.values())


def test_sentinels_do_not_collide_with_text():
    objective = SpanCorruption()
    batch = objective.make_batch(make_context(objective, LENGTH, 100))
    text = (batch["input_ids"] >= FIRST_WORD).sum() + (batch["labels"] >= FIRST_WORD).sum()
    context = make_context(objective, LENGTH, 100)
    assert text == (context.sequences.take(context.sequence_ids) >= FIRST_WORD).sum()


def test_invalid_options_and_inputs_raise():
    with pytest.raises(BitcipherError, match="noise_density"):
        SpanCorruption(noise_density=0.7)
    with pytest.raises(BitcipherError, match="mean_noise_span_length"):
        SpanCorruption(mean_noise_span_length=0.5)
    with pytest.raises(BitcipherError, match="at least 3 positions"):
        SpanCorruption().text_length(2)
    objective = SpanCorruption()
    with pytest.raises(BitcipherError, match="28 spans, but the tokenizer has 10 sentinels"):
        objective.make_batch(make_context(objective, 512, 2))
