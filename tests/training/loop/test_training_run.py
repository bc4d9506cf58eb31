import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_runs import Interruption, config_of, curve_of, interrupting_after

from bitcipher.errors import BitcipherError
from training.loop.checkpoint_folders import latest_checkpoint
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")


def weights_of(folder):
    return load_file(latest_checkpoint(folder) / "model.safetensors")


def same_weights(one, other):
    assert one.keys() == other.keys()
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def straight(tiny_text, tmp_path_factory):
    """Return the folder of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("runs") / "straight"
    run_pretraining(config_of(folder, tiny_text))
    return folder


def test_loss_falls(straight):
    lines = curve_of(straight)
    losses = [line["validation_loss"] for line in lines if "validation_loss" in line]
    assert [line["step"] for line in lines if "validation_loss" in line] == [0, 4, 8, 12]
    assert losses[-1] < losses[0] - 0.05
    assert [line["step"] for line in lines if "loss" in line] == list(range(1, 13))
    assert lines[-1]["tokens"] == 12 * 8 * 17


def test_training_is_deterministic(straight, tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text))
    assert curve_of(tmp_path) == curve_of(straight)
    assert same_weights(weights_of(tmp_path), weights_of(straight))


@pytest.mark.parametrize("last", [1, 3, 4, 5, 9, 11])
def test_resume_is_exact(straight, tiny_text, tmp_path, last):
    config = config_of(tmp_path, tiny_text)

    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(last))
    # An incomplete line, as a crash leaves it.
    with open(tmp_path / "metrics.jsonl", "a") as lines:
        lines.write('{"step": 12, "lo')
    run_pretraining(config)
    assert curve_of(tmp_path) == curve_of(straight)
    assert same_weights(weights_of(tmp_path), weights_of(straight))


def test_resume_with_scaled_learning_rates_is_exact(tiny_text, tmp_path):
    loop = {"scale_parameter": True, "learning_rate": 0.01}
    run_pretraining(config_of(tmp_path / "straight", tiny_text, loop=loop))
    config = config_of(tmp_path / "stopped", tiny_text, loop=loop)
    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(5))
    run_pretraining(config)
    assert curve_of(tmp_path / "stopped") == curve_of(tmp_path / "straight")
    assert same_weights(weights_of(tmp_path / "stopped"), weights_of(tmp_path / "straight"))


def test_finished_run_is_not_trained_again(straight, tiny_text):
    before = (straight / "metrics.jsonl").read_bytes()
    run_pretraining(json.loads((straight / "run.json").read_text()))
    assert (straight / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize("size", [1, 2, 4])
def test_micro_batch_size_changes_only_rounding(straight, tiny_text, tmp_path, size):
    # Dropout is drawn per micro-batch.
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, micro_batch_size in ((whole, 8), (parts, size)):
        run_pretraining(
            config_of(folder, tiny_text, model={"dropout": 0.0}, loop={"micro_batch_size": micro_batch_size})
        )
    for one, other in zip(curve_of(whole), curve_of(parts), strict=True):
        assert one == pytest.approx(other, rel=2e-4)


def test_few_logits_at_a_time_change_only_rounding(straight, tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text, loop={"max_logits": 1}))
    for one, other in zip(curve_of(tmp_path), curve_of(straight), strict=True):
        assert one == pytest.approx(other, rel=2e-4)


def test_micro_batches_are_weighted_by_targets(tiny_text, tmp_path):
    masked = {"model": {"architecture": "roberta", "dropout": 0.0}, "objective": {"name": "masked"}}
    for name, micro_batch_size in (("whole", 8), ("parts", 2)):
        run_pretraining(config_of(tmp_path / name, tiny_text, loop={"micro_batch_size": micro_batch_size}, **masked))
    losses = [[line["loss"] for line in curve_of(tmp_path / name) if "loss" in line] for name in ("whole", "parts")]
    np.testing.assert_allclose(*losses, rtol=2e-4)


def test_seed_changes_run(straight, tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text, seed=2))
    assert curve_of(tmp_path) != curve_of(straight)


def test_save_total_limit(tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text, loop={"save_total_limit": 2}))
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["00000008", "00000012"]


def test_checkpoints_are_not_pickled(straight):
    endings = {path.suffix for path in (straight / "checkpoints").rglob("*") if path.is_file()}
    assert endings == {".json", ".safetensors"}


def test_bfloat16_loss_falls(tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text, loop={"precision": "bfloat16"}))
    losses = [line["validation_loss"] for line in curve_of(tmp_path) if "validation_loss" in line]
    assert losses[-1] < losses[0] - 0.05


def test_missing_gpu_raises(tiny_text, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BitcipherError, match="no GPU"):
        run_pretraining(config_of(tmp_path, tiny_text, loop={"device": "cuda"}))


def test_too_short_text_raises(tiny_text, tmp_path):
    with pytest.raises(BitcipherError, match="fewer than one sequence of 100001"):
        run_pretraining(config_of(tmp_path, tiny_text, model={"max_position_embeddings": 100_000}))
