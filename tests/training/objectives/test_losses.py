import pytest
import torch
from batch_contexts import VOCABULARY, assert_same_gradients, gradients, model_for

from training.models import logits
from training.objectives import losses


@pytest.mark.parametrize("architecture", ["bert", "roberta", "gpt2", "opt", "t5"])
@pytest.mark.parametrize("max_logits", [1, 7 * VOCABULARY, 50 * VOCABULARY])
def test_chunked_loss_equals_full_loss(architecture, max_logits, monkeypatch):
    model = model_for(architecture, 8).double()
    hidden = torch.randn(50, 16, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(0, VOCABULARY, (50,))
    expected = torch.nn.functional.cross_entropy(logits(model, hidden).float(), labels, reduction="sum")
    of_whole = gradients(model, expected) | {"hidden": hidden.grad}
    hidden.grad = None
    monkeypatch.setattr(losses, "MAX_LOGITS", max_logits)
    loss = losses.summed_loss(model, hidden, labels)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected)
    assert_same_gradients(gradients(model, loss) | {"hidden": hidden.grad}, of_whole)


def test_number_of_logits_is_bounded(monkeypatch):
    model, seen = model_for("gpt2", 8), []
    model.lm_head.register_forward_hook(lambda module, inputs, output: seen.append(output.numel()))
    monkeypatch.setattr(losses, "MAX_LOGITS", 7 * VOCABULARY)
    losses.summed_loss(model, torch.randn(50, 16, requires_grad=True), torch.zeros(50, dtype=torch.int64)).backward()
    assert max(seen) == 7 * VOCABULARY
    assert sum(seen) == 2 * 50 * VOCABULARY  # once in the forward pass and once in the backward pass
