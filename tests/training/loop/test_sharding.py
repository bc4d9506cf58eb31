"""Runs whose layers are distributed over two workers (FSDP) give the results of runs whose layers are not."""

import math

import pytest
import torch
from tiny_runs import Interruption, config_of, curve_of, interrupting_after, write_tiny_text
from torch.distributed.tensor import DTensor
from two_processes import on_two

from bitcipher.errors import BitcipherError
from training.data.special_tokens import SpecialTokens
from training.loop.checkpoint_folders import latest_checkpoint
from training.loop.distributed import World, shard_layers
from training.loop.errors import DivergenceError
from training.loop.optimizer import make_optimizer
from training.loop.options import LoopOptions
from training.loop.training_run import check_state
from training.models.build import build_model
from training.models.checkpoint import load_model
from training.models.options import ModelOptions
from training.runs.pretraining_run import run_pretraining
from training.tasks.finetuning.options import FinetuneOptions

ENCODER = {"architecture": "modernbert", "num_hidden_layers": 2}
MODELS = {
    "causal": ({"num_hidden_layers": 2, "dropout": 0.1}, {}),
    "causal, activations computed again": (
        {"num_hidden_layers": 2, "dropout": 0.1},
        {"activation_checkpointing": True},
    ),
    "masked": (ENCODER, {"precision": "bfloat16"}),
    "replaced_tokens": (ENCODER | {"generator_layers": 1}, {}),
    "span_corruption": ({"architecture": "t5", "num_hidden_layers": 2}, {"scale_parameter": True}),
    "simclr": (ENCODER | {"projector_size": 8}, {}),
}
# The 9 micro-batches of an evaluation are an odd number, and gradients are clipped.
LOOP = {"micro_batch_size": 2, "eval_sequences": 18, "max_steps": 6, "save_steps": 3, "max_grad_norm": 0.5}


def config_in(folder, text, name, **loop):
    model, options = MODELS[name]
    objective = {"name": name.split(",")[0]}
    return config_of(folder, text, model=model, objective=objective, loop=LOOP | options | loop)


def assert_close_runs(one, other):
    for line, same in zip(curve_of(one), curve_of(other), strict=True):
        assert line == pytest.approx(same, rel=2e-4)
    weights, others = (load_model(str(latest_checkpoint(folder))).state_dict() for folder in (one, other))
    for name, weight in weights.items():
        torch.testing.assert_close(weight, others[name], rtol=1e-3, atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [*list(MODELS)[:1], *(pytest.param(name, marks=pytest.mark.slow) for name in list(MODELS)[1:])]
)
def test_two_workers_with_shards_train_as_one_does(name, tmp_path):
    text = write_tiny_text(tmp_path / "text", sentinels=2)
    run_pretraining(config_in(tmp_path / "one", text, name, fsdp=True))
    on_two(run_pretraining, config_in(tmp_path / "two", text, name, fsdp=True))
    assert_close_runs(tmp_path / "one", tmp_path / "two")


def run_until_interrupted(config):
    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(4))


@pytest.mark.long
def test_same_run_after_an_interruption(tiny_text, tmp_path):
    on_two(run_pretraining, config_in(tmp_path / "straight", tiny_text, "causal", fsdp=True))
    config = config_in(tmp_path / "stopped", tiny_text, "causal", fsdp=True)
    on_two(run_until_interrupted, config)
    on_two(run_pretraining, config)
    assert curve_of(tmp_path / "stopped") == curve_of(tmp_path / "straight")
    one, other = (load_model(str(latest_checkpoint(tmp_path / name))).state_dict() for name in ("stopped", "straight"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def make_model():
    options = ModelOptions(
        architecture="gpt2", num_hidden_layers=2, hidden_size=16, num_attention_heads=2, intermediate_size=32
    )
    return build_model(options, SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=()), 50, seed=1)


def hold_half(config):
    world, options = World.current("cpu"), LoopOptions(fsdp=True)
    model = make_model()
    n_layers = sum(weight.numel() for name, weight in model.named_parameters() if ".h." in name)
    shard_layers(model, world, options)
    sharded = [weight for weight in model.parameters() if isinstance(weight, DTensor)]
    assert sum(weight.numel() for weight in sharded) == n_layers
    assert sum(weight.to_local().numel() for weight in sharded) == n_layers / 2
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    optimizer = make_optimizer(model, options, 1.0)
    optimizer.step()
    assert all(optimizer.state[weight]["exp_avg"].to_local().shape == weight.to_local().shape for weight in sharded)

    check_state(1, model, optimizer, world)
    if world.rank == 1:
        with torch.no_grad():
            sharded[0].to_local().fill_(math.nan)
    with pytest.raises(DivergenceError, match="at step 2"):
        check_state(2, model, optimizer, world)


@pytest.mark.long
def test_each_worker_holds_its_half_and_notices_divergence_elsewhere():
    on_two(hold_half, {})


def refuse_float16(config):
    with pytest.raises(BitcipherError, match=r"`loop.fsdp` does not support float16; set `loop.precision`"):
        shard_layers(make_model(), World.current("cpu"), LoopOptions(fsdp=True, precision="float16"))


@pytest.mark.long
def test_float16_raises():
    on_two(refuse_float16, {})


def test_finetuning_refuses_fsdp():
    with pytest.raises(BitcipherError, match=r"`loop.fsdp` is for pre-training only"):
        FinetuneOptions.parse({"model": "m", "task": "cola", "data": "d", "loop": {"fsdp": True}}, "Fine-tuning")
