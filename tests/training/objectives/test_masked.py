import dataclasses

import numpy as np
import pytest
import torch
from batch_contexts import (
    FIRST_WORD,
    SPECIALS,
    VOCABULARY,
    assert_same_gradients,
    draw_of,
    gradients,
    labels_everywhere,
    model_for,
    tensors,
)

from bitcipher.errors import BitcipherError
from training.objectives import MaskedLM

LENGTH = 32


@pytest.mark.parametrize("architecture", ["bert", "roberta"])
def test_loss_and_gradients_are_those_of_transformers_with_all_logits(architecture):
    objective, model = MaskedLM(), model_for(architecture, LENGTH)
    batch = objective.batch(draw_of(objective, LENGTH, 6))
    loss = objective.loss(model, tensors(batch))
    labels = torch.from_numpy(labels_everywhere(batch))
    expected = model(input_ids=torch.from_numpy(batch["input_ids"]), labels=labels).loss * objective.targets(batch)
    assert objective.targets(batch) == (labels != -100).sum()
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected)
    assert_same_gradients(gradients(model, loss), gradients(model, expected))


@pytest.mark.parametrize("objective", [MaskedLM(), MaskedLM(dynamic=False), MaskedLM(whole_words=True)])
def test_rows_do_not_depend_on_their_company(objective):
    starts = np.arange(VOCABULARY) % 3 == 0
    whole = objective.batch(draw_of(objective, LENGTH, 30, word_starts=starts))
    for cut in (1, 7, 29):
        parts = [
            objective.batch(draw_of(objective, LENGTH, cut, word_starts=starts)),
            objective.batch(draw_of(objective, LENGTH, 30 - cut, first=cut, word_starts=starts)),
        ]
        np.testing.assert_array_equal(np.concatenate([part["input_ids"] for part in parts]), whole["input_ids"])
        np.testing.assert_array_equal(np.concatenate(list(map(labels_everywhere, parts))), labels_everywhere(whole))


def test_examples_are_begin_text_end_and_labels_are_the_text():
    objective = MaskedLM()
    draw = draw_of(objective, LENGTH, 50)
    batch = objective.batch(draw)
    assert batch["input_ids"].shape == (50, LENGTH)
    restored = np.where(labels_everywhere(batch) == -100, batch["input_ids"], labels_everywhere(batch))
    np.testing.assert_array_equal(restored[:, 1:-1], draw.sequences.take(draw.numbers))
    assert set(restored[:, 0]) == {SPECIALS.begin}
    assert set(restored[:, -1]) == {SPECIALS.end}
    assert batch["labels"].min() >= FIRST_WORD  # special tokens are never predicted


def test_shares_are_those_of_bert():
    objective = MaskedLM()
    batch = objective.batch(draw_of(objective, 130, 3000))
    shown = batch["input_ids"].flat[batch["positions"]]
    masked, kept = shown == SPECIALS.mask, shown == batch["labels"]
    others = shown[~masked & ~kept]
    predicted = len(shown)
    text = predicted + (batch["input_ids"] >= FIRST_WORD).sum() - (shown >= FIRST_WORD).sum()
    assert predicted / text == pytest.approx(0.15, abs=0.003)
    # Of the tenth that is any token, one in 80 is the token itself and one in 80 the mask token.
    assert masked.mean() == pytest.approx(0.8 + 0.1 / 80, abs=0.006)
    assert kept.mean() == pytest.approx(0.1 + 0.1 / 80, abs=0.005)
    counts = np.bincount(others, minlength=VOCABULARY)
    assert counts[SPECIALS.mask] == 0
    assert np.delete(counts, SPECIALS.mask).min() > 0.5 * len(others) / VOCABULARY


def test_always_replaces_by_the_mask_token_and_nothing_else():
    objective = MaskedLM(replacement="always", share=0.4)
    draw = draw_of(objective, 66, 500)
    batch = objective.batch(draw)
    assert set(batch["input_ids"].flat[batch["positions"]]) == {SPECIALS.mask}
    assert (batch["input_ids"] == SPECIALS.mask).sum() == len(batch["labels"])
    text = draw.sequences.take(draw.numbers)
    assert len(batch["labels"]) / (text >= FIRST_WORD).sum() == pytest.approx(0.4, abs=0.015)


def test_every_row_with_text_has_a_prediction_and_a_row_without_has_none():
    objective = MaskedLM(share=0.001)
    draw = draw_of(objective, 8, 400)
    batch = objective.batch(draw)
    has_text = (draw.sequences.take(draw.numbers) >= FIRST_WORD).any(axis=1)
    np.testing.assert_array_equal(has_text, (labels_everywhere(batch) != -100).any(axis=1))
    empty = objective.hide(np.full((2, 8), SPECIALS.end), draw_of(objective, 8, 2))
    assert objective.targets(empty) == 0
    assert objective.loss(model_for("bert", 8), tensors(empty)) == 0


def test_dynamic_masks_change_with_the_row_and_static_ones_with_the_sequence():
    numbers = np.array([3, 3, 8])
    for objective, same in ((MaskedLM(), False), (MaskedLM(dynamic=False), True)):
        draw = dataclasses.replace(draw_of(objective, 66, 3), numbers=numbers)
        first, second, _ = labels_everywhere(objective.batch(draw))
        assert np.array_equal(first, second) == same
        later = labels_everywhere(objective.batch(dataclasses.replace(draw, rows=draw.rows + 1000)))
        assert np.array_equal(first, later[0]) == same


def test_other_keys_give_other_masks():
    objective = MaskedLM()
    one, other = (labels_everywhere(objective.batch(draw_of(objective, 66, 5, key=key))) for key in (1, 2))
    assert not np.array_equal(one, other)


def test_whole_words_are_masked_whole():
    objective = MaskedLM(whole_words=True)
    starts = np.random.default_rng(1).random(VOCABULARY) < 0.4
    draw = draw_of(objective, 66, 1500, word_starts=starts)
    batch = objective.batch(draw)
    chosen = labels_everywhere(batch) != -100
    examples = np.where(chosen, labels_everywhere(batch), batch["input_ids"])
    for row, taken in zip(examples[:300], chosen[:300], strict=True):
        words = []
        for column in range(len(row)):
            special = row[column] < FIRST_WORD
            if special or starts[row[column]] or row[column - 1] < FIRST_WORD:
                words.append([])
            words[-1].append(column)
        assert all(len(set(taken[word])) == 1 for word in words)
    assert chosen.sum() / (examples >= FIRST_WORD).sum() == pytest.approx(0.15, abs=0.01)


def test_words_end_where_a_document_ends():
    objective = MaskedLM(whole_words=True, share=0.5)
    draw = draw_of(objective, 66, 300, word_starts=np.zeros(VOCABULARY, bool))
    text = draw.sequences.take(draw.numbers)
    chosen = (labels_everywhere(objective.batch(draw)) != -100)[:, 1:-1]
    # As nothing begins a word, each document is one; beside one that is masked, every other one is not.
    has_two = ((text[:, :-1] == SPECIALS.end) & (text[:, 1:] != SPECIALS.end))[:, 1:].any(axis=1) & (text[:, 0] != 2)
    partly = [len(set(row[words >= FIRST_WORD])) == 2 for row, words in zip(chosen, text, strict=True)]
    assert 0.3 < np.mean(np.array(partly)[has_two]) < 0.9


def test_what_cannot_be_is_told_in_one_sentence():
    with pytest.raises(BitcipherError, match=r"The share of masked tokens must lie between 0 and 1, and 1\.5 does not"):
        MaskedLM(share=1.5)
    with pytest.raises(BitcipherError, match=r"replaced as 'bert' or 'always', not as 'never'"):
        MaskedLM(replacement="never")
    with pytest.raises(BitcipherError, match=r"at least 3 positions, not 2"):
        MaskedLM().text_length(2)
    objective = MaskedLM(whole_words=True)
    with pytest.raises(BitcipherError, match=r"only if it is known which tokens begin a word"):
        objective.batch(draw_of(objective, LENGTH, 2))
    with pytest.raises(BitcipherError, match=r"The tokenizer has no mask token"):
        objective.batch(draw_of(objective, LENGTH, 2, tokens=dataclasses.replace(SPECIALS, mask=None)))
