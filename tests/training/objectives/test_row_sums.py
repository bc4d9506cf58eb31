"""Losses of rows, from which evaluations are made, add up to the loss of a batch."""

import pytest
import torch
from batch_contexts import make_context, model_for, tensors

from training.objectives.causal import CausalLM
from training.objectives.masked import MaskedLM

LENGTH = 32


@pytest.mark.parametrize(
    ("objective", "architecture"), [(CausalLM(), "gpt2"), (MaskedLM(), "roberta")], ids=["causal", "masked"]
)
def test_sums_of_rows_add_up_to_loss(objective, architecture):
    model = model_for(architecture, LENGTH + 1)
    batch = objective.make_batch(make_context(objective, LENGTH, 6))
    sums = objective.row_sums(model, tensors(batch))
    assert set(sums) == set(objective.metrics)
    for of_rows in sums.values():
        total, count = of_rows.sum(0)
        torch.testing.assert_close(total.float(), objective.loss(model, tensors(batch)))
        assert count == objective.count_targets(batch)
    single = objective.make_batch(make_context(objective, LENGTH, 1, first=4))
    torch.testing.assert_close(objective.row_sums(model, tensors(single))["perplexity"], sums["perplexity"][4:5])
