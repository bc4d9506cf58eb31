import pytest
from torch import nn

from training.data import SpecialTokens
from training.loop import LoopOptions
from training.loop.optimizer import make_optimizer
from training.models import ARCHITECTURES, ModelOptions, build_model

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
