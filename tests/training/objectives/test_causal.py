import numpy as np
import pytest
import torch
from batch_contexts import assert_same_gradients, gradients, make_context, model_for, tensors

from bitcipher.errors import BitcipherError
from training.objectives import CausalLM

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


def test_too_short_length_raises():
    with pytest.raises(BitcipherError, match="at least 1 position"):
        CausalLM().text_length(0)
