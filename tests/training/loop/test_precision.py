"""Runs in float16: the loss is scaled, and a step whose gradients overflow is skipped."""

import math

import pytest
import torch
from safetensors.torch import load_file
from tiny_runs import Interruption, config_of, curve_of, interrupting_after

from training.loop.checkpoint_folders import find_latest_checkpoint, latest_checkpoint
from training.loop.distributed import World, autocast_dtype
from training.loop.errors import DivergenceError
from training.loop.options import LoopOptions
from training.objectives.causal import CausalLM
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")

FLOAT16 = {"precision": "float16"}
CPU = World(0, 1, torch.device("cpu"))


def weights_of(folder, step):
    return load_file(folder / "checkpoints" / f"{step:08d}" / "model.safetensors")


def make_gradients_overflow(monkeypatch, is_chosen):
    """Make the gradients of the chosen steps infinite."""
    loss, calls = CausalLM.loss, []

    def steep(objective, model, batch):
        calls.append(model.training)
        value = loss(objective, model, batch)
        if model.training and is_chosen(sum(calls)):
            value.register_hook(lambda gradient: gradient * math.inf)
        return value

    monkeypatch.setattr(CausalLM, "loss", steep)


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [("auto", None), ("float32", None), ("bfloat16", torch.bfloat16), ("float16", torch.float16)],
)
def test_types_on_a_cpu(precision, dtype):
    assert autocast_dtype(CPU, LoopOptions(precision=precision)) is dtype


def test_float16_follows_float32(tiny_text, tmp_path):
    for name in ("float16", "float32"):
        run_pretraining(config_of(tmp_path / name, tiny_text, loop={"precision": name}, model={"dropout": 0.0}))
    half, full = curve_of(tmp_path / "float16"), curve_of(tmp_path / "float32")
    assert half != full
    for one, other in zip(half, full, strict=True):
        for name in other:
            assert one[name] == pytest.approx(other[name], rel=0.02), name


def test_step_whose_gradients_overflow_is_skipped(tiny_text, tmp_path, monkeypatch):
    make_gradients_overflow(monkeypatch, lambda step: step == 2)
    run_pretraining(config_of(tmp_path, tiny_text, loop=FLOAT16 | {"save_steps": 1}))
    lines = {line["step"]: line for line in curve_of(tmp_path) if "loss" in line}
    assert [step for step, line in lines.items() if "grad_norm" not in line] == [2]
    assert [lines[step]["loss_scale"] for step in (1, 2, 3, 12)] == [65_536, 32_768, 32_768, 32_768]
    first, second, third = (weights_of(tmp_path, step) for step in (1, 2, 3))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(not torch.equal(second[name], third[name]) for name in first)


def test_resumed_run_keeps_the_scale(tiny_text, tmp_path, monkeypatch):
    straight, resumed = tmp_path / "straight", tmp_path / "resumed"
    with monkeypatch.context() as patch:
        make_gradients_overflow(patch, lambda step: step in (2, 3))
        run_pretraining(config_of(straight, tiny_text, loop=FLOAT16))
    with monkeypatch.context() as patch:
        make_gradients_overflow(patch, lambda step: step in (2, 3))
        config = config_of(resumed, tiny_text, loop=FLOAT16)
        with pytest.raises(Interruption):
            run_pretraining(config, interrupting_after(6))
    run_pretraining(config)
    assert curve_of(resumed) == curve_of(straight)
    assert curve_of(resumed)[-2]["loss_scale"] == 16_384
    one, other = weights_of(straight, 12), weights_of(resumed, 12)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_gradients_that_overflow_at_any_scale_stop_the_run(tiny_text, tmp_path, monkeypatch):
    make_gradients_overflow(monkeypatch, lambda step: True)
    loop = FLOAT16 | {"max_steps": 40, "eval_steps": 100, "save_steps": 100}
    with pytest.raises(DivergenceError, match="at step 17,"):  # the scale is 1 after 16 steps
        run_pretraining(config_of(tmp_path, tiny_text, loop=loop))
    assert find_latest_checkpoint(tmp_path) is None


def test_loss_that_is_not_finite_stops_at_once(tiny_text, tmp_path, monkeypatch):
    loss, calls = CausalLM.loss, []

    def diverging(objective, model, batch):
        calls.append(model.training)
        return loss(objective, model, batch) * (math.nan if sum(calls) == 6 else 1)

    monkeypatch.setattr(CausalLM, "loss", diverging)
    with pytest.raises(DivergenceError, match="at step 6,"):
        run_pretraining(config_of(tmp_path, tiny_text, loop=FLOAT16))
    assert latest_checkpoint(tmp_path).name == "00000004"
