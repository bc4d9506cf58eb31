"""Digests of the files of checkpoints and of the metrics."""

import json
import shutil

import pytest
from tiny_runs import config_of, curve_of

from bitcipher.errors import BitcipherError
from bitcipher.files.file_digests import DIGESTS
from training.loop.checkpoint_folders import (
    latest_checkpoint,
    list_checkpoints,
    remove_old_checkpoints,
    resolve_model_folder,
)
from training.loop.file_names import CHECKPOINTS, METRICS
from training.loop.metrics_logger import read_metrics
from training.models.checkpoint import load_model
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def run(finished_run, tmp_path):
    return shutil.copytree(finished_run, tmp_path / "run")


def contents_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def state_of(run):
    """Return the metrics, and the weights of all checkpoints with those of their optimizers."""
    weights = {path.relative_to(run): path.read_bytes() for path in run.glob("checkpoints/*/*.safetensors")}
    return curve_of(run), weights


def flip(path, position=0.5):
    content = bytearray(path.read_bytes())
    content[int(len(content) * position)] ^= 1
    path.write_bytes(content)


def test_all_files_of_a_checkpoint_have_digests(finished_run):
    for checkpoint in list_checkpoints(finished_run):
        stored = json.loads((checkpoint / DIGESTS).read_text())
        assert {*stored["files"], DIGESTS} == {path.name for path in checkpoint.iterdir()}


@pytest.mark.parametrize("damage", [flip, lambda path: path.unlink()], ids=["flipped", "removed"])
@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json", "config.json", DIGESTS])
def test_run_resumes_from_the_checkpoint_before_a_damaged_one(run, tiny_text, name, damage):
    expected, latest = state_of(run), latest_checkpoint(run)
    damage(latest / name)
    with pytest.warns(UserWarning, match=f"{name}.* resumes from .*00000008"):
        run_pretraining(config_of(run, tiny_text))
    assert state_of(run) == expected
    assert [path.name for path in list_checkpoints(run)] == ["00000004", "00000008", latest.name]


def test_run_of_damaged_checkpoints_is_not_resumed(run, tiny_text):
    for checkpoint in list_checkpoints(run):
        flip(checkpoint / "model.safetensors")
    config, before = config_of(run, tiny_text), contents_of(run)
    with pytest.raises(BitcipherError, match=r"model\.safetensors") as error:
        run_pretraining(config)
    assert f"emove {latest_checkpoint(run)}" in str(error.value)
    assert contents_of(run) == before


def test_damage_to_late_metrics_is_repaired_by_an_older_checkpoint(run, tiny_text):
    expected = state_of(run)
    flip(run / METRICS, 0.98)
    with pytest.warns(UserWarning, match=f"{METRICS}.* resumes from .*00000008"):
        run_pretraining(config_of(run, tiny_text))
    assert state_of(run) == expected


def test_moved_checkpoint_is_noticed(run, tiny_text):
    expected, latest = state_of(run), latest_checkpoint(run)
    shutil.rmtree(latest)
    shutil.copytree(list_checkpoints(run)[0], latest)
    with pytest.raises(BitcipherError, match=f"{latest} holds the checkpoint of step 4, so it was moved. Remove"):
        resolve_model_folder(str(run))
    with pytest.warns(UserWarning, match="it was moved.* resumes from .*00000008"):
        run_pretraining(config_of(run, tiny_text))
    assert state_of(run) == expected


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", DIGESTS])
def test_damaged_model_is_not_opened(run, name):
    path = latest_checkpoint(run) / name
    flip(path)
    with pytest.raises(BitcipherError, match=name):
        load_model(resolve_model_folder(str(run)))


def test_model_folder_without_digests_is_opened_but_no_run(run):
    latest = latest_checkpoint(run)
    (latest / DIGESTS).unlink()
    assert load_model(str(latest))
    with pytest.raises(BitcipherError, match=DIGESTS):
        resolve_model_folder(str(run))


@pytest.mark.parametrize(
    "damage", [lambda path: flip(path, 0.05), lambda path: path.unlink()], ids=["flipped", "removed"]
)
def test_damaged_metrics_are_not_read(run, tiny_text, damage):
    damage(run / METRICS)
    with pytest.raises(BitcipherError, match=METRICS):
        read_metrics(run)
    with pytest.raises(BitcipherError, match=METRICS):
        run_pretraining(config_of(run, tiny_text))


def test_resumed_run_keeps_the_bytes_of_metrics(run, tiny_text):
    before = (run / METRICS).read_bytes()
    with (run / METRICS).open("ab") as stream:
        stream.write(b'{"step": 13, "loss": 1.0}\n\xff')
    assert read_metrics(run)[-1]["step"] == 13
    run_pretraining(config_of(run, tiny_text))
    assert (run / METRICS).read_bytes() == before


def test_line_that_is_not_text_is_refused(run):
    with (run / METRICS).open("ab") as stream:
        stream.write(b'{"step": 13, "note": "\xff"}\n')
    with pytest.raises(BitcipherError, match=r"line \d+ is not a JSON object"):
        read_metrics(run)


def test_only_folders_of_checkpoints_are_removed(tmp_path):
    kept = ["best", "best.partial", "3", "00000006"]
    for name in [*kept, "00000002", "00000004", "00000008.partial"]:
        (tmp_path / CHECKPOINTS / name).mkdir(parents=True)
    (tmp_path / CHECKPOINTS / "notes.partial").touch()
    remove_old_checkpoints(tmp_path, 1)
    assert {path.name for path in (tmp_path / CHECKPOINTS).iterdir()} == {*kept, "notes.partial"}
