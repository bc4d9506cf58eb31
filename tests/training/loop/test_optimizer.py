import pytest
import torch
from torch import nn

from bitcipher.errors import BitcipherError
from training.data.special_tokens import SpecialTokens
from training.loop.optimizer import (
    MIN_SCALE,
    make_optimizer,
    make_scheduler,
    scale_learning_rates,
    set_learning_rate,
)
from training.loop.options import LoopOptions
from training.models.build import build_model
from training.models.options import ARCHITECTURES, ModelOptions

TOKENS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_only_matrices_of_layers_decay(architecture):
    options = ModelOptions(architecture=architecture, num_hidden_layers=1, hidden_size=16, num_attention_heads=2)
    model = build_model(options, TOKENS, 50, seed=1)
    optimizer = make_optimizer(model, LoopOptions(weight_decay=0.1), 1.0)
    decays = {weight: group["weight_decay"] for group in optimizer.param_groups for weight in group["params"]}
    tables = {module.weight for module in model.modules() if isinstance(module, nn.Embedding)}
    assert set(decays) == set(model.parameters())
    for name, weight in model.named_parameters():
        expected = 0.1 if weight.ndim == 2 and weight not in tables else 0.0
        assert decays[weight] == expected, name


def rates_of(**options) -> list[float]:
    options = LoopOptions(learning_rate=0.5, max_steps=20, **options)
    model = build_model(ModelOptions(num_hidden_layers=1, hidden_size=16, num_attention_heads=2), TOKENS, 50, seed=1)
    optimizer = make_optimizer(model, options, 1.0)
    scheduler = make_scheduler(optimizer, options)
    return [set_learning_rate(optimizer, scheduler, step) for step in range(20)]


def test_warmup_stable_decay_is_constant_between_warmup_and_decay():
    rates = rates_of(lr_scheduler_type="warmup_stable_decay", warmup_steps=4, decay_steps=0.25, min_lr_ratio=0.2)
    assert rates[:4] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert rates[4:15] == [0.5] * 11
    assert rates[15:] == pytest.approx([0.5, 0.42, 0.34, 0.26, 0.18])


def test_scaled_rates_change_all_weights_by_the_same_fraction():
    options = ModelOptions(architecture="t5", num_hidden_layers=1, hidden_size=16, num_attention_heads=2)
    model = build_model(options, TOKENS, 50, seed=1)
    torch.nn.init.zeros_(next(iter(model.encoder.parameters())))
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    loop = LoopOptions(learning_rate=0.01, warmup_steps=0, scale_parameter=True, weight_decay=0)
    optimizer = make_optimizer(model, loop, 1.0)
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    set_learning_rate(optimizer, make_scheduler(optimizer, loop), 0)
    scale_learning_rates(optimizer)
    optimizer.step()
    for name, weight in model.named_parameters():  # by the first step of Adam, which is the rate
        size = max(float(before[name].square().mean().sqrt()), MIN_SCALE)
        torch.testing.assert_close(
            (weight - before[name]).abs(), torch.full_like(weight, 0.01 * size), rtol=1e-3, atol=1e-7
        )


def test_decay_longer_than_run_raises():
    with pytest.raises(BitcipherError, match=r"`loop.warmup_steps` and `loop.decay_steps` are 9 and 12 steps"):
        LoopOptions.parse(
            {"max_steps": 20, "warmup_steps": 9, "decay_steps": 0.6, "lr_scheduler_type": "warmup_stable_decay"}, "test"
        )
