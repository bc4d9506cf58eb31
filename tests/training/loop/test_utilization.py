"""Tokens per second and model-FLOPs utilization in the metrics."""

import json

import pytest
import torch
from tiny_runs import config_of, curve_of, write_tiny_text

from training.loop.checkpoint_folders import latest_checkpoint
from training.loop.distributed import World
from training.loop.options import LoopOptions
from training.loop.step import StepData
from training.loop.utilization import UtilizationMeter, find_peak_flops, peak_of
from training.models.checkpoint import load_model
from training.models.flops import training_flops
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")


def lines_of(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def sentinel_text(tmp_path_factory):
    """Return the folder of the token shards of a small text, whose tokenizer has sentinels."""
    return write_tiny_text(tmp_path_factory.mktemp("sentinels") / "text", kind="unigram", sentinels=10)


# Changes of the recipe, and number of predicted tokens; those of T5 are 3 tokens, a sentinel and the end token.
CAUSAL = ({}, 16)
T5 = ({"model": {"architecture": "t5"}, "objective": {"name": "span_corruption"}}, 5)


@pytest.mark.parametrize(("changes", "predictions"), [CAUSAL, T5], ids=["causal", "t5"])
def test_utilization_is_that_of_the_counted_flops(tiny_text, sentinel_text, tmp_path, changes, predictions):
    loop = {"peak_tflops": 0.5, "logging_steps": 3}
    run_pretraining(config_of(tmp_path, sentinel_text if changes else tiny_text, loop=loop, **changes))
    config = load_model(str(latest_checkpoint(tmp_path))).config
    flops = training_flops(config, 16, predictions, predictions if changes else None)
    logged = [line for line in lines_of(tmp_path) if "loss" in line]
    assert [line["step"] for line in logged] == [3, 6, 9, 12]
    seconds, tokens = 0.0, 0
    for line in logged:
        elapsed, read = line["seconds"] - seconds, line["tokens"] - tokens
        # Seconds are rounded to milliseconds.
        expected = 3 * 8 * flops / elapsed / 0.5e12
        assert line["model_flops_utilization"] == pytest.approx(expected, rel=0.002 / elapsed)
        assert line["tokens_per_second"] == pytest.approx(read / elapsed, rel=0.002 / elapsed)
        seconds, tokens = line["seconds"], line["tokens"]


def test_metrics_without_a_known_peak_have_no_utilization(tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text))
    assert not any("model_flops_utilization" in line or "tokens_per_second" in line for line in lines_of(tmp_path))


def test_peak_changes_no_other_metric(tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path / "without", tiny_text))
    run_pretraining(config_of(tmp_path / "with", tiny_text, loop={"peak_tflops": 1}))
    times = {"tokens_per_second", "model_flops_utilization"}
    lines = [{name: line[name] for name in line if name not in times} for line in curve_of(tmp_path / "with")]
    assert lines == curve_of(tmp_path / "without")


def test_meter_counts_between_readings():
    meter = UtilizationMeter(lambda predictions: 100 + predictions, peak_flops=1000.0, seconds=5.0)
    for n_targets in (8, 16):
        meter.note(StepData([0], [], n_targets), 4)
    # 4 (100 + 2) + 4 (100 + 4) FLOPs in 2 seconds.
    assert meter.read(7.0, 10, 3) == {"tokens_per_second": 120, "model_flops_utilization": 0.412}
    meter.note(StepData([0], [], 0), 1)
    assert meter.read(8.0, 10, 1) == {"tokens_per_second": 10, "model_flops_utilization": 0.1}


def test_peaks_of_gpus():
    assert peak_of("NVIDIA H100 80GB HBM3") == peak_of("NVIDIA H200") == 989e12
    assert peak_of("NVIDIA H100 PCIe") == 756e12
    assert peak_of("NVIDIA L4") == 121e12
    assert peak_of("NVIDIA L40S") == 362e12
    assert peak_of("NVIDIA GeForce GTX 1080") is None
    world = World(0, 1, torch.device("cpu"))
    assert find_peak_flops(LoopOptions(), world) is None
    assert find_peak_flops(LoopOptions(peak_tflops=2), world) == 2e12


def test_replaced_token_detection_has_no_utilization(tiny_text, tmp_path):
    model = {"architecture": "modernbert", "generator_layers": 1, "embedding_sharing": "gdes"}
    objective = {"name": "replaced_tokens"}
    run_pretraining(
        config_of(tmp_path, tiny_text, model=model, objective=objective, loop={"peak_tflops": 1, "max_steps": 4})
    )
    assert not any("model_flops_utilization" in line for line in lines_of(tmp_path))
