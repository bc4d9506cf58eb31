import pytest
import torch
from batch_contexts import VOCABULARY, assert_same_gradients, gradients, model_for

from training.models import losses
from training.models.parts import compile_layers, is_compiled, logits


@pytest.mark.parametrize("architecture", ["bert", "roberta", "gpt2", "opt", "t5"])
@pytest.mark.parametrize("max_logits", [1, 7 * VOCABULARY, 50 * VOCABULARY])
def test_chunked_loss_equals_full_loss(architecture, max_logits, monkeypatch):
    model = model_for(architecture, 8).double()
    hidden = torch.randn(50, 16, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(0, VOCABULARY, (50,))
    expected = torch.nn.functional.cross_entropy(logits(model, hidden).float(), labels, reduction="sum")
    of_whole = gradients(model, expected) | {"hidden": hidden.grad}
    hidden.grad = None
    monkeypatch.setitem(losses.MAX_LOGITS, "cpu", max_logits)
    loss = losses.summed_loss(model, hidden, labels)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected)
    assert_same_gradients(gradients(model, loss) | {"hidden": hidden.grad}, of_whole)


def test_number_of_logits_is_bounded():
    model, seen = model_for("gpt2", 8), []
    model.lm_head.register_forward_hook(lambda module, inputs, output: seen.append(output.numel()))
    hidden, labels = torch.randn(50, 16, requires_grad=True), torch.zeros(50, dtype=torch.int64)
    with losses.limiting_logits(7 * VOCABULARY):
        losses.summed_loss(model, hidden, labels).backward()
    assert max(seen) == 7 * VOCABULARY
    assert sum(seen) == 50 * VOCABULARY  # none is computed again in the backward pass


def test_gradients_of_chunks_in_bfloat16_are_those_of_the_whole(monkeypatch):
    model = model_for("roberta", 8)
    hidden, labels = torch.randn(50, 16, requires_grad=True), torch.randint(0, VOCABULARY, (50,))

    def gradients_of_loss() -> dict[str, torch.Tensor]:
        hidden.grad = None
        with torch.autocast("cpu", torch.bfloat16):
            loss = losses.summed_loss(model, hidden, labels) / 7
        return gradients(model, loss) | {"hidden": hidden.grad}

    expected = gradients_of_loss()
    monkeypatch.setitem(losses.MAX_LOGITS, "cpu", 7 * VOCABULARY)
    of_chunks = gradients_of_loss()
    for name, gradient in expected.items():
        torch.testing.assert_close(of_chunks[name], gradient, rtol=0.02, atol=0.02 * gradient.abs().max())


def test_frozen_weights_have_no_gradient_of_chunks(monkeypatch):
    monkeypatch.setitem(losses.MAX_LOGITS, "cpu", 7 * VOCABULARY)
    model = model_for("gpt2", 8)
    model.lm_head.weight.requires_grad_(False)
    hidden = torch.randn(50, 16, requires_grad=True)
    losses.summed_loss(model, hidden, torch.zeros(50, dtype=torch.int64)).backward()
    assert model.lm_head.weight.grad is None
    assert hidden.grad.abs().sum() > 0


@pytest.mark.long
def test_loss_of_a_compiled_model_is_the_same(monkeypatch):
    monkeypatch.setitem(losses.MAX_LOGITS, "cpu", 20 * VOCABULARY)
    model = model_for("gpt2", 8)
    hidden, labels = torch.randn(50, 16, requires_grad=True), torch.randint(0, VOCABULARY, (50,))
    expected = losses.summed_loss(model, hidden, labels)
    of_plain = gradients(model, expected) | {"hidden": hidden.grad}
    hidden.grad = None
    assert not is_compiled(model)
    compile_layers(model)
    assert is_compiled(model)
    loss = losses.summed_loss(model, hidden, labels)
    torch.testing.assert_close(loss, expected)
    of_compiled = gradients(model, loss) | {"hidden": hidden.grad}
    for name, gradient in of_plain.items():
        torch.testing.assert_close(of_compiled[name], gradient)
