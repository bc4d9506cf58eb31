import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_runs import config_of, curve_of

from bitcipher.errors import BitcipherError
from training.loop import checkpoint_of
from training.pretrain import pretrain

pytestmark = pytest.mark.usefixtures("one_thread")


def weights_of(folder):
    return load_file(checkpoint_of(folder) / "model.safetensors")


def same_weights(one, other):
    assert one.keys() == other.keys()
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def straight(tiny_text, tmp_path_factory):
    """A run from beginning to end."""
    folder = tmp_path_factory.mktemp("runs") / "straight"
    pretrain(config_of(folder, tiny_text))
    return folder


def test_a_run_learns(straight):
    lines = curve_of(straight)
    losses = [line["validation_loss"] for line in lines if "validation_loss" in line]
    assert [line["step"] for line in lines if "validation_loss" in line] == [0, 4, 8, 12]
    assert losses[-1] < losses[0] - 0.05
    assert [line["step"] for line in lines if "loss" in line] == list(range(1, 13))
    assert lines[-1]["tokens"] == 12 * 8 * 17


def test_the_same_recipe_gives_the_same_run(straight, tiny_text, tmp_path):
    pretrain(config_of(tmp_path, tiny_text))
    assert curve_of(tmp_path) == curve_of(straight)
    assert same_weights(weights_of(tmp_path), weights_of(straight))


class PulledPlug(Exception):
    pass


@pytest.mark.parametrize("last", [1, 3, 4, 5, 9, 11])
def test_a_stopped_run_goes_on_to_the_bit(straight, tiny_text, tmp_path, last):
    config = config_of(tmp_path, tiny_text)

    def pull_plug(step, note):
        if step > last:
            raise PulledPlug

    with pytest.raises(PulledPlug):
        pretrain(config, pull_plug)
    # A line that was being written.
    with open(tmp_path / "metrics.jsonl", "a") as lines:
        lines.write('{"step": 12, "lo')
    pretrain(config)
    assert curve_of(tmp_path) == curve_of(straight)
    assert same_weights(weights_of(tmp_path), weights_of(straight))


def test_a_finished_run_is_not_trained_again(straight, tiny_text):
    before = (straight / "metrics.jsonl").read_bytes()
    pretrain(json.loads((straight / "run.json").read_text()))
    assert (straight / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize("size", [1, 2, 4])
def test_micro_batches_change_nothing_but_roundings(straight, tiny_text, tmp_path, size):
    # Dropout is a micro-batch's own.
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, micro_batch in ((whole, 8), (parts, size)):
        pretrain(config_of(folder, tiny_text, model={"dropout": 0.0}, loop={"micro_batch": micro_batch}))
    for one, other in zip(curve_of(whole), curve_of(parts), strict=True):
        assert one == pytest.approx(other, rel=2e-4)


def test_masked_micro_batches_with_other_numbers_of_targets_weigh_the_same(tiny_text, tmp_path):
    masked = {"model": {"architecture": "roberta", "dropout": 0.0}, "objective": {"name": "masked"}}
    for name, micro_batch in (("whole", 8), ("parts", 2)):
        pretrain(config_of(tmp_path / name, tiny_text, loop={"micro_batch": micro_batch}, **masked))
    losses = [[line["loss"] for line in curve_of(tmp_path / name) if "loss" in line] for name in ("whole", "parts")]
    np.testing.assert_allclose(*losses, rtol=2e-4)


def test_another_seed_is_another_run(straight, tiny_text, tmp_path):
    pretrain(config_of(tmp_path, tiny_text, seed=2))
    assert curve_of(tmp_path) != curve_of(straight)


def test_old_checkpoints_are_removed(tiny_text, tmp_path):
    pretrain(config_of(tmp_path, tiny_text, loop={"keep_checkpoints": 2}))
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["00000008", "00000012"]


def test_checkpoints_hold_nothing_that_runs_code(straight):
    endings = {path.suffix for path in (straight / "checkpoints").rglob("*") if path.is_file()}
    assert endings == {".json", ".safetensors"}


def test_bfloat16_learns_too(tiny_text, tmp_path):
    pretrain(config_of(tmp_path, tiny_text, loop={"precision": "bfloat16"}))
    losses = [line["validation_loss"] for line in curve_of(tmp_path) if "validation_loss" in line]
    assert losses[-1] < losses[0] - 0.05


def test_a_gpu_that_is_not_there_is_a_plain_sentence(tiny_text, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BitcipherError, match="no GPU that torch can use"):
        pretrain(config_of(tmp_path, tiny_text, loop={"device": "cuda"}))


def test_a_text_that_is_too_short_is_a_plain_sentence(tiny_text, tmp_path):
    with pytest.raises(BitcipherError, match=r"training part of the text has .* less than one sequence of 100001"):
        pretrain(config_of(tmp_path, tiny_text, model={"positions": 100_000}))
