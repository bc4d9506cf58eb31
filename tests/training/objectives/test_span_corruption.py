import dataclasses
from collections import Counter

import numpy as np
import pytest
import torch
from batch_contexts import (
    FIRST_WORD,
    SPECIALS,
    VOCABULARY,
    MadeSequences,
    assert_same_gradients,
    draw_of,
    gradients,
    model_for,
    tensors,
)
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.objectives import SpanCorruption

LENGTH = 40
MANY = dataclasses.replace(SPECIALS, sentinels=tuple(range(VOCABULARY, VOCABULARY + 100)))


def pieces_of(tokens: np.ndarray) -> dict[int, list[int]]:
    """Tokens by the sentinel before them, the end token left out; -1 stands for none."""
    pieces, sentinel = {-1: []}, -1
    for token in tokens[:-1].tolist():
        if token in MANY.sentinels:
            pieces[sentinel := token] = []
        else:
            pieces[sentinel].append(token)
    return pieces


def rebuilt(inputs: np.ndarray, labels: np.ndarray) -> list[int]:
    """The text, from what is left and what was taken out."""
    lost = pieces_of(labels)
    text = []
    for token in inputs[:-1].tolist():
        text += lost[token] if token in MANY.sentinels else [token]
    return text


@given(st.integers(3, 150), st.floats(0.01, 0.5), st.floats(1, 10), st.integers(0, 2**62), st.integers(0, 2**40))
def test_span_corruption_can_be_undone(length, density, mean_span, key, first):
    objective = SpanCorruption(density, mean_span)
    sequences = MadeSequences(objective.text_length(length), 3000)
    draw = draw_of(objective, length, 5, first=first, key=key, sequences=sequences, tokens=MANY)
    batch = objective.batch(draw)
    assert batch["input_ids"].shape == (5, length)
    for inputs, labels, text in zip(batch["input_ids"], batch["labels"], sequences.take(draw.numbers), strict=True):
        assert inputs[-1] == labels[-1] == SPECIALS.end
        assert rebuilt(inputs, labels) == text.tolist()
        order = [token for token in inputs if token in MANY.sentinels]
        assert order == list(MANY.sentinels[: len(order)]) == [token for token in labels if token in MANY.sentinels]
        # Nothing before the first sentinel of the targets, no empty span, and no two sentinels side by side in inputs.
        assert pieces_of(labels).pop(-1) == []
        kept, lost = pieces_of(inputs), pieces_of(labels)
        assert all(kept.pop(sentinel) or sentinel == order[-1] for sentinel in list(kept))
        assert all(lost[sentinel] for sentinel in order)


def test_lengths_are_those_of_the_paper():
    # Raffel et al. 2020: inputs of 512 with density 0.15 and spans of 3 come from 568 tokens and give targets of 114.
    objective = SpanCorruption()
    assert objective.text_length(512) == 568
    batch = objective.batch(draw_of(objective, 512, 2, tokens=MANY))
    assert batch["input_ids"].shape == (2, 512)
    assert batch["labels"].shape == batch["decoder_input_ids"].shape == (2, 114)
    assert objective.targets(batch) == 2 * 114


def test_the_decoder_reads_the_padding_token_and_then_the_labels():
    objective, model = SpanCorruption(), model_for("t5", LENGTH)
    batch = objective.batch(draw_of(objective, LENGTH, 3))
    expected = model.prepare_decoder_input_ids_from_labels(torch.from_numpy(batch["labels"]))
    np.testing.assert_array_equal(batch["decoder_input_ids"], expected)


@pytest.mark.parametrize("tied", [True, False])
def test_loss_and_gradients_are_those_of_transformers(tied):
    objective, model = SpanCorruption(), model_for("t5", LENGTH, tied=tied)
    batch = objective.batch(draw_of(objective, LENGTH, 5))
    given = tensors(batch)
    loss = objective.loss(model, given)
    expected = model(input_ids=given["input_ids"], labels=given["labels"]).loss * objective.targets(batch)
    torch.testing.assert_close(loss, expected)
    assert_same_gradients(gradients(model, loss), gradients(model, expected))


def test_rows_do_not_depend_on_their_company():
    objective = SpanCorruption()
    whole = objective.batch(draw_of(objective, LENGTH, 20))
    parts = [
        objective.batch(draw_of(objective, LENGTH, size, first=first)) for first, size in ((0, 3), (3, 1), (4, 16))
    ]
    for name in whole:
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), whole[name])


def test_all_ways_to_part_the_text_are_as_likely():
    # Of 8 tokens 4 are lost in 2 spans: 1 + 3, 2 + 2 or 3 + 1, and the same for what is kept.
    objective = SpanCorruption(density=0.5, mean_span=2)
    length = 4 + 2 + 1
    assert objective.text_length(length) == 8
    batch = objective.batch(draw_of(objective, length, 9000, sequences=MadeSequences(8, 800)))
    ways = Counter()
    for inputs, labels in zip(batch["input_ids"], batch["labels"], strict=True):
        first, second = SPECIALS.sentinels[:2]
        ways[inputs.tolist().index(first), labels.tolist().index(second) - 1] += 1
    assert set(ways) == {(kept, lost) for kept in (1, 2, 3) for lost in (1, 2, 3)}
    assert all(count == pytest.approx(1000, rel=0.15) for count in ways.values())


def test_special_tokens_and_text_are_not_mixed_up():
    objective = SpanCorruption()
    batch = objective.batch(draw_of(objective, LENGTH, 100))
    text = (batch["input_ids"] >= FIRST_WORD).sum() + (batch["labels"] >= FIRST_WORD).sum()
    draw = draw_of(objective, LENGTH, 100)
    assert text == (draw.sequences.take(draw.numbers) >= FIRST_WORD).sum()


def test_what_cannot_be_is_told_in_one_sentence():
    with pytest.raises(BitcipherError, match=r"The density of noise must be above 0 and at most 0\.5, not 0\.7"):
        SpanCorruption(density=0.7)
    with pytest.raises(BitcipherError, match=r"Spans must be 1 token long or more on average, not 0\.5"):
        SpanCorruption(mean_span=0.5)
    with pytest.raises(BitcipherError, match=r"at least 3 positions, not 2"):
        SpanCorruption().text_length(2)
    objective = SpanCorruption()
    with pytest.raises(BitcipherError, match=r"have 28 spans, and the tokenizer has 10 sentinels: train it with at"):
        objective.batch(draw_of(objective, 512, 2))
