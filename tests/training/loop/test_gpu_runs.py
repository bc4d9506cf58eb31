"""Runs on a GPU. Without one, these tests are skipped."""

import pytest
import torch
from tiny_runs import config_of, curve_of

from training.loop.checkpoint_folders import find_latest_checkpoint
from training.loop.distributed import World, autocast_dtype
from training.loop.errors import DivergenceError
from training.loop.options import LoopOptions
from training.loop.utilization import find_peak_flops, peak_of
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


def test_loss_falls_on_a_gpu(tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text, loop={"device": "cuda"}))
    losses = [line["validation_loss"] for line in curve_of(tmp_path) if "validation_loss" in line]
    assert losses[-1] < losses[0] - 0.05


def test_diverged_run_on_a_gpu_saves_nothing(tiny_text, tmp_path):
    loop = {"device": "cuda", "learning_rate": 1e38, "warmup_steps": 0, "max_grad_norm": 1e30, "logging_steps": 100}
    with pytest.raises(DivergenceError, match="not finite"):
        run_pretraining(config_of(tmp_path, tiny_text, loop=loop))
    assert find_latest_checkpoint(tmp_path) is None


def test_bfloat16_is_not_emulated():
    dtype = torch.bfloat16 if torch.cuda.get_device_capability() >= (8, 0) else torch.float16
    assert autocast_dtype(World.current("cuda"), LoopOptions()) is dtype


def test_products_of_float32_are_not_rounded_to_tf32(tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text, loop={"device": "cuda", "precision": "float32"}))
    left, right = torch.rand(2, 64, 64, device="cuda")
    torch.testing.assert_close((left @ right).double(), left.double() @ right.double(), rtol=1e-6, atol=1e-6)


def test_float16_loss_falls_on_a_gpu(tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text, loop={"device": "cuda", "precision": "float16"}))
    losses = [line["validation_loss"] for line in curve_of(tmp_path) if "validation_loss" in line]
    assert losses[-1] < losses[0] - 0.05


def test_computing_activations_again_takes_less_memory(tiny_text, tmp_path):
    peaks = []
    for value in (False, True):
        torch.cuda.reset_peak_memory_stats()
        model = {"num_hidden_layers": 8, "hidden_size": 64, "intermediate_size": 256}
        loop = {"device": "cuda", "max_steps": 2, "activation_checkpointing": value}
        run_pretraining(config_of(tmp_path / str(value), tiny_text, model=model, loop=loop))
        peaks.append(torch.cuda.max_memory_allocated())
    assert peaks[1] < peaks[0]


def test_peak_of_this_gpu_needs_bfloat16():
    world = World.current("cuda")
    assert find_peak_flops(LoopOptions(precision="float32"), world) is None
    known = peak_of(torch.cuda.get_device_name())
    assert find_peak_flops(LoopOptions(precision="bfloat16"), world) == known


def test_compiled_loss_falls_on_a_gpu(tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text, loop={"device": "cuda", "compile": True}))
    losses = [line["validation_loss"] for line in curve_of(tmp_path) if "validation_loss" in line]
    assert losses[-1] < losses[0] - 0.05
