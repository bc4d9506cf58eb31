import numpy as np
import pytest
import torch
from batch_contexts import SPECIALS, assert_same_gradients, gradients, make_context, model_for, tensors

from bitcipher.errors import BitcipherError
from training.objectives.causal import CausalLM

LENGTH = 20


@pytest.mark.parametrize("architecture", ["gpt2", "opt"])
def test_loss_and_gradients_match_transformers(architecture):
    objective, model = CausalLM(), model_for(architecture, LENGTH + 1)
    context = make_context(objective, LENGTH, 5)
    batch = objective.make_batch(context)
    loss = objective.loss(model, tensors(batch))
    text = torch.from_numpy(context.sequences.take(context.sequence_ids))
    # transformers shifts the labels itself and drops the prediction of the last token.
    expected = model(input_ids=text, labels=text).loss * objective.count_targets(batch)
    assert objective.count_targets(batch) == 5 * LENGTH
    torch.testing.assert_close(loss, expected)
    assert_same_gradients(gradients(model, loss), gradients(model, expected))


def test_labels_are_shifted_text():
    objective = CausalLM()
    context = make_context(objective, LENGTH, 9, first=4)
    batch = objective.make_batch(context)
    text = context.sequences.take(context.sequence_ids)
    np.testing.assert_array_equal(batch["input_ids"], text[:, :LENGTH])
    np.testing.assert_array_equal(batch["labels"], text[:, -LENGTH:])
    alone = objective.make_batch(make_context(objective, LENGTH, 1, first=8))
    np.testing.assert_array_equal(alone["labels"][0], batch["labels"][4])


def test_document_mask_changes_only_sequences_with_several_documents():
    plain, masked, model = CausalLM(), CausalLM(document_mask=True), model_for("gpt2", LENGTH + 1).eval()
    batch = masked.make_batch(make_context(masked, LENGTH, 30))
    ends = np.cumsum(batch["input_ids"] == SPECIALS.end, axis=1)
    np.testing.assert_array_equal(batch["document_ids"][:, 0], 0)
    np.testing.assert_array_equal(batch["document_ids"][:, 1:], ends[:, :-1])
    sums = [objective.row_sums(model, tensors(batch))["perplexity"][:, 0] for objective in (plain, masked)]
    assert torch.equal(*sums)  # the arrays of a batch decide, not the objective
    without = {name: array for name, array in batch.items() if name != "document_ids"}
    difference = (sums[1] - plain.row_sums(model, tensors(without))["perplexity"][:, 0]).abs()
    has_several = torch.from_numpy(batch["document_ids"][:, -1] > 0)
    assert 0 < has_several.sum() < 30
    assert (difference[has_several] > 1e-4).all()
    assert (difference[~has_several] < 1e-4).all()


def test_too_short_length_raises():
    with pytest.raises(BitcipherError, match="at least 1 position"):
        CausalLM().text_length(0)
