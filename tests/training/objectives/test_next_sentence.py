import numpy as np
import pytest
import torch
from batch_contexts import (
    SPECIALS,
    assert_same_gradients,
    dense_labels,
    gradients,
    make_context,
    model_for,
    random_sequences,
    tensors,
)

from bitcipher.errors import BitcipherError
from training.models.parts import hidden_states, sentence_logits
from training.objectives.next_sentence import NextSentence

LENGTH = 24


def test_loss_of_one_row_matches_transformers():
    objective, model = NextSentence(), model_for("bert", LENGTH, next_sentence=True)
    for first in range(4):
        batch = objective.make_batch(make_context(objective, LENGTH, 1, first=first))
        given = tensors(batch)
        loss = objective.loss(model, given)
        expected = model(
            input_ids=given["input_ids"],
            attention_mask=given["attention_mask"],
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
    logits = sentence_logits(model, hidden_states(model, given), given)
    losses = torch.nn.functional.cross_entropy(logits, given["is_random"], reduction="none")
    torch.testing.assert_close(
        (objective.loss(model, given) - without) / objective.count_targets(batch),
        (weights * losses).sum(),
        rtol=1e-4,
        atol=1e-5,
    )


def examples_of(batch) -> np.ndarray:
    """Return the examples [B, LENGTH] before masking."""
    labels = dense_labels(batch)
    return np.where(labels == -100, batch["input_ids"], labels)


def passages(sequences) -> list[list[int]]:
    """Return the passage of each sequence, by plain loops over documents."""
    found = []
    for number in range(len(sequences)):
        offset = number * sequences.length
        document = next(at for at, end in enumerate(sequences.stream.ends) if offset < end)
        begin = sequences.stream.ends[document - 1] if document else 0
        last = sequences.stream.ends[document] - 1
        start = max(begin, min(offset, last - sequences.length))
        found.append(sequences.stream.tokens[start : min(last, start + sequences.length)].tolist())
    return found


def test_pairs_are_halves_of_passages_within_documents():
    objective = NextSentence()
    sequences = random_sequences(LENGTH - 3, 2100)
    context = make_context(objective, LENGTH, 4000, sequences=sequences)
    batch = objective.make_batch(context)
    begin, end, pad = SPECIALS.begin, SPECIALS.end, SPECIALS.pad
    expected = passages(sequences)
    assert any(len(passage) < LENGTH - 3 for passage in expected)
    assert SPECIALS.end not in [token for passage in expected for token in passage]
    seconds = []
    for row, example in enumerate(examples_of(batch).tolist()):
        passage = expected[context.sequence_ids[row]]
        half = len(passage) // 2
        text = example[: example.index(pad)] if pad in example else example
        assert text[: half + 2] == [begin, *passage[:half], end]
        second = text[half + 2 : -1]
        assert text[-1] == end
        if not batch["is_random"][row]:
            assert second == passage[half:]
        seconds.append(second)
        assert batch["attention_mask"][row].tolist() == [1] * len(text) + [0] * (LENGTH - len(text))
        types = [0] * (half + 2) + [1] * (len(second) + 1) + [0] * (LENGTH - len(text))
        assert batch["token_type_ids"][row].tolist() == types
    assert batch["is_random"].mean() == pytest.approx(0.5, abs=0.03)
    # Random second halves come from all sequences that begin in other documents, and never from the same document.
    documents = np.searchsorted(sequences.stream.ends, np.arange(len(sequences)) * sequences.length, side="right")
    numbers = {tuple(passage[len(passage) // 2 :]): number for number, passage in enumerate(expected)}
    random = np.flatnonzero(batch["is_random"])
    partners = np.array([numbers[tuple(seconds[row])] for row in random])
    assert (documents[partners] != documents[context.sequence_ids[random]]).all()
    assert len(set(partners)) == len(set(numbers.values()))


def test_document_of_one_token_has_only_second_half():
    objective = NextSentence()
    sequences = random_sequences(LENGTH - 3, 2100)
    sequences.stream.tokens[1] = SPECIALS.end
    sequences.stream.ends = np.flatnonzero(sequences.stream.tokens == SPECIALS.end) + 1
    batch = objective.make_batch(make_context(objective, LENGTH, 1, sequences=sequences))
    assert examples_of(batch)[0, :2].tolist() == [SPECIALS.begin, SPECIALS.end]


def test_metrics_of_rows():
    objective, model = NextSentence(), model_for("bert", LENGTH, next_sentence=True)
    batch = objective.make_batch(make_context(objective, LENGTH, 40))
    given = tensors(batch)
    sums = objective.row_sums(model, given)
    assert set(sums) == set(objective.metrics)
    masked_loss, accuracy = sums["masked_loss"].sum(0), sums["masked_accuracy"].sum(0)
    sentence_loss, sentences = sums["sentence_loss"].sum(0), sums["sentence_accuracy"].sum(0)
    torch.testing.assert_close(sums["perplexity"], sums["masked_loss"])
    out = model(
        **{name: given[name] for name in ("input_ids", "attention_mask", "token_type_ids")},
        labels=torch.from_numpy(dense_labels(batch)),
        next_sentence_label=given["is_random"],
    )
    # The loss of transformers is the sum of both means.
    means = masked_loss[0] / masked_loss[1] + sentence_loss[0] / 40
    torch.testing.assert_close(means.float(), out.loss)
    guesses = out.prediction_logits.flatten(0, 1)[given["positions"]].argmax(1)
    assert accuracy.tolist() == [(guesses == given["labels"]).sum(), len(given["labels"])]
    assert sentences.tolist() == [(out.seq_relationship_logits.argmax(1) == given["is_random"]).sum(), 40]
    total = sums["validation_loss"].sum(0)
    torch.testing.assert_close(total[0].float(), objective.loss(model, given))
    assert total[1] == objective.count_targets(batch)


@pytest.mark.parametrize("objective", [NextSentence(), NextSentence(static_masks=2)])
def test_rows_do_not_depend_on_batch(objective):
    whole = objective.make_batch(make_context(objective, LENGTH, 12))
    parts = [
        objective.make_batch(make_context(objective, LENGTH, size, first=first))
        for first, size in ((0, 1), (1, 4), (5, 7))
    ]
    np.testing.assert_array_equal(np.concatenate(list(map(dense_labels, parts))), dense_labels(whole))
    for name in ("input_ids", "attention_mask", "token_type_ids", "is_random", "sentence_weights"):
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), whole[name])


def test_invalid_options_and_inputs_raise():
    objective = NextSentence()
    with pytest.raises(BitcipherError, match="at least 5 positions"):
        objective.text_length(4)
    with pytest.raises(BitcipherError, match="at least two documents"):
        objective.make_batch(make_context(objective, LENGTH, 1, sequences=random_sequences(LENGTH - 3, LENGTH)))
