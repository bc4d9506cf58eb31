import dataclasses
import itertools

import numpy as np
import pytest
import torch
from batch_contexts import (
    FIRST_WORD,
    SPECIALS,
    VOCABULARY,
    assert_same_gradients,
    dense_labels,
    gradients,
    make_context,
    model_for,
    tensors,
)

from bitcipher.errors import BitcipherError
from training.objectives.masked import MaskedLM

LENGTH = 32


@pytest.mark.parametrize("architecture", ["bert", "roberta"])
def test_loss_and_gradients_match_transformers(architecture):
    objective, model = MaskedLM(), model_for(architecture, LENGTH)
    batch = objective.make_batch(make_context(objective, LENGTH, 6))
    loss = objective.loss(model, tensors(batch))
    labels = torch.from_numpy(dense_labels(batch))
    expected = model(input_ids=torch.from_numpy(batch["input_ids"]), labels=labels).loss * objective.count_targets(
        batch
    )
    assert objective.count_targets(batch) == (labels != -100).sum()
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected)
    assert_same_gradients(gradients(model, loss), gradients(model, expected))


@pytest.mark.parametrize("objective", [MaskedLM(), MaskedLM(static_masks=2), MaskedLM(whole_word_mask=True)])
def test_rows_do_not_depend_on_batch(objective):
    starts = np.arange(VOCABULARY) % 3 == 0
    whole = objective.make_batch(make_context(objective, LENGTH, 30, word_starts=starts))
    for cut in (1, 7, 29):
        parts = [
            objective.make_batch(make_context(objective, LENGTH, cut, word_starts=starts)),
            objective.make_batch(make_context(objective, LENGTH, 30 - cut, first=cut, word_starts=starts)),
        ]
        np.testing.assert_array_equal(np.concatenate([part["input_ids"] for part in parts]), whole["input_ids"])
        np.testing.assert_array_equal(np.concatenate(list(map(dense_labels, parts))), dense_labels(whole))


def test_examples_and_labels():
    objective = MaskedLM()
    context = make_context(objective, LENGTH, 50)
    batch = objective.make_batch(context)
    assert batch["input_ids"].shape == (50, LENGTH)
    restored = np.where(dense_labels(batch) == -100, batch["input_ids"], dense_labels(batch))
    np.testing.assert_array_equal(restored[:, 1:-1], context.sequences.take(context.sequence_ids))
    assert set(restored[:, 0]) == {SPECIALS.begin}
    assert set(restored[:, -1]) == {SPECIALS.end}
    assert batch["labels"].min() >= FIRST_WORD  # special tokens are never predicted


def test_replacement_fractions_match_bert():
    objective = MaskedLM()
    batch = objective.make_batch(make_context(objective, 130, 3000))
    shown = batch["input_ids"].flat[batch["positions"]]
    masked, kept = shown == SPECIALS.mask, shown == batch["labels"]
    others = shown[~masked & ~kept]
    predicted = len(shown)
    text = predicted + (batch["input_ids"] >= FIRST_WORD).sum() - (shown >= FIRST_WORD).sum()
    assert predicted / text == pytest.approx(0.15, abs=0.003)
    # One in 80 of the random tokens is the token itself, and one in 80 the mask token.
    assert masked.mean() == pytest.approx(0.8 + 0.1 / 80, abs=0.006)
    assert kept.mean() == pytest.approx(0.1 + 0.1 / 80, abs=0.005)
    counts = np.bincount(others, minlength=VOCABULARY)
    assert counts[SPECIALS.mask] == 0
    assert np.delete(counts, SPECIALS.mask).min() > 0.5 * len(others) / VOCABULARY


def test_replacement_always():
    objective = MaskedLM(replacement="always", mlm_probability=0.4)
    context = make_context(objective, 66, 500)
    batch = objective.make_batch(context)
    assert set(batch["input_ids"].flat[batch["positions"]]) == {SPECIALS.mask}
    assert (batch["input_ids"] == SPECIALS.mask).sum() == len(batch["labels"])
    text = context.sequences.take(context.sequence_ids)
    assert len(batch["labels"]) / (text >= FIRST_WORD).sum() == pytest.approx(0.4, abs=0.015)


def test_every_row_with_text_has_a_prediction():
    objective = MaskedLM(mlm_probability=0.001)
    context = make_context(objective, 8, 400)
    batch = objective.make_batch(context)
    has_text = (context.sequences.take(context.sequence_ids) >= FIRST_WORD).any(axis=1)
    np.testing.assert_array_equal(has_text, (dense_labels(batch) != -100).any(axis=1))
    empty = objective.mask_tokens(np.full((2, 8), SPECIALS.end), make_context(objective, 8, 2))
    assert objective.count_targets(empty) == 0
    assert objective.loss(model_for("bert", 8), tensors(empty)) == 0


def test_dynamic_and_static_masks():
    numbers = np.array([3, 3, 8])
    for objective, same in ((MaskedLM(), False), (MaskedLM(static_masks=1), True)):
        context = dataclasses.replace(make_context(objective, 66, 3), sequence_ids=numbers)
        first, second, _ = dense_labels(objective.make_batch(context))
        assert np.array_equal(first, second) == same
        later = dense_labels(objective.make_batch(dataclasses.replace(context, row_ids=context.row_ids + 1000)))
        assert np.array_equal(first, later[0]) == same


def test_epochs_use_static_masks_in_turn():
    objective = MaskedLM(static_masks=3)
    context = make_context(objective, 66, 2)
    epochs = [
        dataclasses.replace(context, row_ids=context.row_ids + each * len(context.sequences)) for each in range(7)
    ]
    masks = [dense_labels(objective.make_batch(epoch)) for epoch in epochs]
    for one, other in itertools.combinations(range(7), 2):
        assert np.array_equal(masks[one], masks[other]) == ((other - one) % 3 == 0)


def test_keys_give_different_masks():
    objective = MaskedLM()
    one, other = (dense_labels(objective.make_batch(make_context(objective, 66, 5, key=key))) for key in (1, 2))
    assert not np.array_equal(one, other)


def test_whole_word_mask():
    objective = MaskedLM(whole_word_mask=True)
    starts = np.random.default_rng(1).random(VOCABULARY) < 0.4
    context = make_context(objective, 66, 1500, word_starts=starts)
    batch = objective.make_batch(context)
    chosen = dense_labels(batch) != -100
    examples = np.where(chosen, dense_labels(batch), batch["input_ids"])
    for row, taken in zip(examples[:300], chosen[:300], strict=True):
        words = []
        for column in range(len(row)):
            special = row[column] < FIRST_WORD
            if special or starts[row[column]] or row[column - 1] < FIRST_WORD:
                words.append([])
            words[-1].append(column)
        assert all(len(set(taken[word])) == 1 for word in words)
    assert chosen.sum() / (examples >= FIRST_WORD).sum() == pytest.approx(0.15, abs=0.01)


def test_words_end_with_document():
    objective = MaskedLM(whole_word_mask=True, mlm_probability=0.5)
    context = make_context(objective, 66, 300, word_starts=np.zeros(VOCABULARY, bool))
    text = context.sequences.take(context.sequence_ids)
    chosen = (dense_labels(objective.make_batch(context)) != -100)[:, 1:-1]
    # No token begins a word, so each document is one word: neighboring documents are masked independently.
    has_two = ((text[:, :-1] == SPECIALS.end) & (text[:, 1:] != SPECIALS.end))[:, 1:].any(axis=1) & (text[:, 0] != 2)
    partly = [len(set(row[words >= FIRST_WORD])) == 2 for row, words in zip(chosen, text, strict=True)]
    assert 0.3 < np.mean(np.array(partly)[has_two]) < 0.9


def test_invalid_options_and_inputs_raise():
    with pytest.raises(BitcipherError, match="mlm_probability"):
        MaskedLM(mlm_probability=1.5)
    with pytest.raises(BitcipherError, match="`replacement` must be bert or always"):
        MaskedLM(replacement="never")
    with pytest.raises(BitcipherError, match="at least 3 positions"):
        MaskedLM().text_length(2)
    objective = MaskedLM(whole_word_mask=True)
    with pytest.raises(BitcipherError, match="word_starts"):
        objective.make_batch(make_context(objective, LENGTH, 2))
    with pytest.raises(BitcipherError, match="no mask token"):
        objective.make_batch(
            make_context(objective, LENGTH, 2, special_tokens=dataclasses.replace(SPECIALS, mask=None))
        )


def test_document_mask_numbers_documents_before_masks():
    objective = MaskedLM(document_mask=True)
    context = make_context(objective, LENGTH, 20)
    batch = objective.make_batch(context)
    text = context.sequences.take(context.sequence_ids)
    is_end = text == SPECIALS.end
    assert (batch["document_ids"][:, 0] == 0).all()  # the begin token
    np.testing.assert_array_equal(batch["document_ids"][:, 1:-1], np.cumsum(is_end, axis=1) - is_end)
    without = MaskedLM().make_batch(context)
    assert batch.keys() - without.keys() == {"document_ids"}
    assert all(np.array_equal(batch[name], without[name]) for name in without)
