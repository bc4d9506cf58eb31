"""Damaged metrics and checkpoints of a run: one sentence that names the file."""

import json
import math
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_runs import config_of, write_tiny_text

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files
from bitcipher.files.file_digests import write_digests
from training.loop.checkpoint_folders import latest_checkpoint, read_checkpoint_digests
from training.loop.metrics_logger import read_metrics
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run with one checkpoint, at step 4."""
    folder = tmp_path_factory.mktemp("damaged")
    run_pretraining(config_of(folder / "run", write_tiny_text(folder / "text"), loop={"max_steps": 4}))
    return folder / "run"


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run")


DAMAGED_LINES = [b"\xff", b"[" * 9999, b'{"step": ' + b"9" * 5000 + b"}", b"[]", b'{"step": 1, "loss": "x"}', b"{}"]


@pytest.mark.parametrize(
    "line", [*DAMAGED_LINES, b'{"step": 1, "loss": [1]}', b'{"step": 1, "other": null}', b'{"step": 1, "loss": NaN}']
)
def test_damaged_line_of_metrics_is_named(run, line):
    path = run / "metrics.jsonl"
    shutil.rmtree(run / "checkpoints")  # whose digests would notice the damage first
    path.write_bytes(b'{"step": 0}\n' + line + b"\n")
    with pytest.raises(BitcipherError, match=r"metrics\.jsonl, line 2"):
        read_metrics(run)


def resume(run):
    config = json_files.read(str(run / "run.json"))
    run_pretraining({**config, "folder": str(run)})


@pytest.mark.parametrize("content", ["", "[]", '{"step": -1}', '{"step": 3}', '{"step": "4"}', "9" * 5000])
def test_damaged_state_is_named(run, content):
    state = latest_checkpoint(run) / "state.json"
    state.write_text(content)
    with pytest.raises(BitcipherError, match=str(state)):
        resume(run)


@pytest.mark.parametrize("damage", ["missing", "shape", "cut"])
def test_damaged_state_of_the_optimizer_is_named(run, damage):
    path = latest_checkpoint(run) / "optimizer.safetensors"
    tensors = load_file(path)
    name = next(each for each in tensors if each.endswith(":exp_avg"))
    if damage == "missing":
        del tensors[name]
    elif damage == "shape":
        tensors[name] = torch.zeros(1)
    save_file(tensors, path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-4])
    digests = read_checkpoint_digests(path.parent)  # those of the damaged file, so that other checks notice the damage
    write_digests(path.parent, digests.files, digests.metrics, digests.step)
    with pytest.raises(BitcipherError, match=f"{path} is missing or damaged .*resume from an older one"):
        resume(run)


CHANGES = [
    {"attn_pdrop": 2**31},
    {"activation_function": "../x"},
    {"n_head": 0},
    {"n_head": 3},
    {"architectures": 5},
    {"architectures": [True]},
    {"dtype": "floatnull"},
    {"n_embd": 2**31},
    {"vocab_size": -1},
    {"n_head": -1},
    {"attn_pdrop": math.nan},
    {"n_layer": True},
    {"model_type": []},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_damaged_configuration_of_a_model_is_refused(run, change):
    path = latest_checkpoint(run) / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(BitcipherError, match=str(path.parent)):
        resume(run)
