import numpy as np
import pytest
import torch
from batch_contexts import (
    SPECIALS,
    RandomSequences,
    assert_same_gradients,
    dense_labels,
    gradients,
    make_context,
    model_for,
    tensors,
)

from bitcipher.errors import BitcipherError
from training.models import hidden_states, sentence_logits
from training.objectives import NextSentence

LENGTH = 24
HALF = (LENGTH - 3) // 2


def test_loss_of_one_row_matches_transformers():
    objective, model = NextSentence(), model_for("bert", LENGTH, next_sentence=True)
    for first in range(4):
        batch = objective.make_batch(make_context(objective, LENGTH, 1, first=first))
        given = tensors(batch)
        loss = objective.loss(model, given)
        expected = model(
            input_ids=given["input_ids"],
            token_type_ids=given["token_type_ids"],
            labels=torch.from_numpy(dense_labels(batch)),
            next_sentence_label=given["is_random"],
        ).loss * objective.count_targets(batch)
        torch.testing.assert_close(loss, expected)
        assert_same_gradients(gradients(model, loss), gradients(model, expected))


def test_batch_loss_is_sum_of_rows():
    objective, model = NextSentence(), model_for("bert", LENGTH, next_sentence=True)
    whole = objective.make_batch(make_context(objective, LENGTH, 8))
    rows = [objective.make_batch(make_context(objective, LENGTH, 1, first=first)) for first in range(8)]
    assert objective.count_targets(whole) == sum(map(objective.count_targets, rows))
    torch.testing.assert_close(
        objective.loss(model, tensors(whole)), sum(objective.loss(model, tensors(row)) for row in rows)
    )


def test_sentence_losses_have_weight_one():
    objective, model = NextSentence(), model_for("bert", LENGTH, next_sentence=True)
    batch = objective.make_batch(make_context(objective, LENGTH, 40))
    given = tensors(batch)
    weights = given["sentence_weights"] / objective.count_targets(batch)
    assert weights.sum() == pytest.approx(1)
    without = objective.loss(model, given | {"sentence_weights": torch.zeros(40)})
    logits = sentence_logits(model, hidden_states(model, given))
    losses = torch.nn.functional.cross_entropy(logits, given["is_random"], reduction="none")
    torch.testing.assert_close(
        (objective.loss(model, given) - without) / objective.count_targets(batch),
        (weights * losses).sum(),
        rtol=1e-4,
        atol=1e-5,
    )


def test_second_halves():
    objective = NextSentence()
    sequences = RandomSequences(LENGTH - 3, 2100)
    context = make_context(objective, LENGTH, 4000, sequences=sequences)
    batch = objective.make_batch(context)
    labels = dense_labels(batch)
    examples = np.where(labels == -100, batch["input_ids"], labels)
    assert examples.shape == (4000, LENGTH)
    assert set(examples[:, 0]) == {SPECIALS.begin}
    assert set(examples[:, HALF + 1]) == set(examples[:, -1]) == {SPECIALS.end}
    np.testing.assert_array_equal(batch["token_type_ids"], np.tile(np.arange(LENGTH) > HALF + 1, (4000, 1)))
    text = sequences.take(context.sequence_ids)
    np.testing.assert_array_equal(examples[:, 1 : HALF + 1], text[:, :HALF])
    seconds = examples[:, HALF + 2 : -1]
    follows = (seconds == text[:, HALF:]).all(axis=1)
    np.testing.assert_array_equal(follows, batch["is_random"] == 0)
    assert follows.mean() == pytest.approx(0.5, abs=0.03)
    # Second halves come from all other sequences, and never from the same one.
    numbers = {tuple(row[HALF:]): number for number, row in enumerate(sequences.take(np.arange(len(sequences))))}
    partners = np.array([numbers[tuple(row)] for row in seconds])
    counts = np.bincount((partners - context.sequence_ids)[~follows] % len(sequences), minlength=len(sequences))
    assert counts[0] == 0
    assert counts[1:].min() > 0


@pytest.mark.parametrize("objective", [NextSentence(), NextSentence(dynamic=False)])
def test_rows_do_not_depend_on_batch(objective):
    whole = objective.make_batch(make_context(objective, LENGTH, 12))
    parts = [
        objective.make_batch(make_context(objective, LENGTH, size, first=first))
        for first, size in ((0, 1), (1, 4), (5, 7))
    ]
    np.testing.assert_array_equal(np.concatenate(list(map(dense_labels, parts))), dense_labels(whole))
    for name in ("input_ids", "token_type_ids", "is_random", "sentence_weights"):
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), whole[name])


def test_invalid_options_and_inputs_raise():
    objective = NextSentence()
    with pytest.raises(BitcipherError, match="at least 5 positions"):
        objective.text_length(4)
    with pytest.raises(BitcipherError, match="at least two sequences"):
        objective.make_batch(make_context(objective, LENGTH, 1, sequences=RandomSequences(LENGTH - 3, LENGTH)))
