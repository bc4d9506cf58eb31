"""Batches and losses of pairs of texts, against transformers and against single pairs."""

import dataclasses

import numpy as np
import pytest
import torch
from batch_contexts import FIRST_WORD, SPECIALS, VOCABULARY, assert_same_gradients, gradients, model_for, tensors

from bitcipher.errors import BitcipherError
from training.objectives.registry import make_objective
from training.objectives.text_pairs import TextPairs

OBJECTIVE = TextPairs()
RANDOM = np.random.default_rng(5)


def side(length):
    return np.append(RANDOM.integers(FIRST_WORD, VOCABULARY, length), SPECIALS.end)


SOURCES, TARGETS = [side(n) for n in (3, 9, 1)], [side(n) for n in (5, 2, 7)]


def make_batch(numbers, special=SPECIALS):
    return OBJECTIVE.make_pair_batch([SOURCES[n] for n in numbers], [TARGETS[n] for n in numbers], special)


def test_batches_are_padded_to_their_longest_sides():
    batch = make_batch([0, 1, 2])
    assert batch["input_ids"].shape == batch["attention_mask"].shape == (3, 10)
    assert batch["decoder_input_ids"].shape == (3, 8)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        assert batch["input_ids"][row].tolist() == [*source, *[SPECIALS.pad] * (10 - len(source))]
        assert batch["attention_mask"][row].tolist() == [1] * len(source) + [0] * (10 - len(source))
        before = [SPECIALS.pad, *target][: len(target)]
        assert batch["decoder_input_ids"][row, : len(target)].tolist() == before
    assert batch["labels"].tolist() == np.concatenate(TARGETS).tolist()
    assert OBJECTIVE.count_targets(batch) == 6 + 3 + 8
    assert all(array.flags.c_contiguous for array in batch.values())


def test_padding_with_the_end_token_is_no_target():
    batch = make_batch([0, 1, 2], dataclasses.replace(SPECIALS, pad=SPECIALS.end))
    assert batch["labels"].tolist() == np.concatenate(TARGETS).tolist()
    assert batch["attention_mask"].sum() == sum(map(len, SOURCES))


def test_loss_and_gradients_are_those_of_transformers():
    model, batch = model_for("t5", 16), make_batch([0, 1, 2])
    labels = np.full(batch["decoder_input_ids"].shape, -100)
    labels.flat[batch["positions"]] = batch["labels"]
    given = {name: tensors(batch)[name] for name in ("input_ids", "attention_mask", "decoder_input_ids")}
    mean = model(**given, labels=torch.from_numpy(labels)).loss
    expected = mean * OBJECTIVE.count_targets(batch)
    found = OBJECTIVE.loss(model, tensors(batch))
    torch.testing.assert_close(found, expected)
    assert_same_gradients(gradients(model, found), gradients(model, expected))


def test_pairs_do_not_depend_on_their_batch():
    model = model_for("t5", 16).eval()
    together = OBJECTIVE.row_sums(model, tensors(make_batch([0, 1, 2])))
    assert set(together) == set(OBJECTIVE.metrics)
    for number in range(3):
        alone = OBJECTIVE.row_sums(model, tensors(make_batch([number])))
        for name, sums in together.items():
            torch.testing.assert_close(alone[name][0], sums[number])


def test_sequence_accuracy_is_that_of_greedy_search():
    model = model_for("t5", 16).eval()
    source = torch.from_numpy(SOURCES[0])[None]
    written = model.generate(source, do_sample=False, max_new_tokens=6, min_new_tokens=6, pad_token_id=SPECIALS.pad)
    target = written[0, 1:].numpy()
    correct = OBJECTIVE.make_pair_batch([SOURCES[0]], [target], SPECIALS)
    wrong = OBJECTIVE.make_pair_batch([SOURCES[0]], [np.append(target[:-1], target[-1] + 1)], SPECIALS)
    sums = [OBJECTIVE.row_sums(model, tensors(batch)) for batch in (correct, wrong)]
    assert [each["sequence_accuracy"][0].tolist() for each in sums] == [[1, 1], [0, 1]]
    assert sums[1]["token_accuracy"][0].tolist() == [5, 6]


def test_columns_are_names_or_numbers():
    assert make_objective({"name": "text_pairs", "source_column": 1, "target_column": 2}) == TextPairs(
        source_column="1", target_column="2"
    )
    with pytest.raises(BitcipherError, match=r"`objective\.target_column` must be a string"):
        make_objective({"name": "text_pairs", "target_column": [1]})
