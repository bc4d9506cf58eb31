import numpy as np
import pytest
import torch
from batch_contexts import assert_same_gradients, draw_of, gradients, model_for, tensors

from bitcipher.errors import BitcipherError
from training.objectives import CausalLM

LENGTH = 20


@pytest.mark.parametrize("architecture", ["gpt2", "opt"])
def test_loss_and_gradients_are_those_of_transformers(architecture):
    objective, model = CausalLM(), model_for(architecture, LENGTH + 1)
    draw = draw_of(objective, LENGTH, 5)
    batch = objective.batch(draw)
    loss = objective.loss(model, tensors(batch))
    text = torch.from_numpy(draw.sequences.take(draw.numbers))
    # transformers shifts labels itself, and drops what the last token predicts.
    expected = model(input_ids=text, labels=text).loss * objective.targets(batch)
    assert objective.targets(batch) == 5 * LENGTH
    torch.testing.assert_close(loss, expected)
    assert_same_gradients(gradients(model, loss), gradients(model, expected))


def test_each_row_is_its_text_and_the_text_one_token_later():
    objective = CausalLM()
    draw = draw_of(objective, LENGTH, 9, first=4)
    batch = objective.batch(draw)
    text = draw.sequences.take(draw.numbers)
    np.testing.assert_array_equal(batch["input_ids"], text[:, :LENGTH])
    np.testing.assert_array_equal(batch["labels"], text[:, -LENGTH:])
    alone = objective.batch(draw_of(objective, LENGTH, 1, first=8))
    np.testing.assert_array_equal(alone["labels"][0], batch["labels"][4])


def test_a_length_without_predictions_is_told():
    with pytest.raises(BitcipherError, match=r"at least 1 position, not 0"):
        CausalLM().text_length(0)
