"""`bitcipher verify` of runs, studies and token shards."""

import shutil
from pathlib import Path

import pytest
import tiny_commands
from typer.testing import CliRunner

from cluster.cli.main import app
from training.loop.file_names import CONFIG as PRETRAINING
from training.runs.verify.training_folders import find_training_folders
from training.studies.downscaling.sweep.study import STUDY
from training.tasks.finetuning.run_files import CONFIG as FINETUNING


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Folder with a run and its prepared text."""
    folder = tmp_path_factory.mktemp("verified")
    tiny_commands.train(folder, folder / "run")
    return folder


def verify(folder: Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["verify", str(folder)])
    return result.exit_code, result.output


def text_of(runs: Path) -> Path:
    (text,) = (runs / "prepared").iterdir()
    return text


def test_intact_folders_have_no_damage(runs):
    code, output = verify(runs / "run")
    assert code == 0
    assert "(training run, " in output
    assert "no damage" in output
    code, output = verify(text_of(runs))
    assert code == 0
    assert "(token shards, " in output


def test_moved_checkpoint_is_named(runs, tmp_path):
    run = shutil.copytree(runs / "run", tmp_path / "run")
    first, latest = sorted((run / "checkpoints").iterdir())
    shutil.rmtree(latest)
    shutil.copytree(first, latest)
    code, output = verify(run)
    assert code == 2
    assert f"{latest} holds the checkpoint of step {int(first.name)}, so it was moved." in output


@pytest.mark.long
def test_each_damaged_file_of_a_run_and_of_its_text_is_named(runs):
    skipped = ("tensorboard",)
    files = [path for path in (runs / "run").rglob("*") if path.is_file() and path.parent.name not in skipped]
    files += [path for path in text_of(runs).iterdir() if path.stat().st_size]
    for path in files:
        content = path.read_bytes()
        for damaged in (
            bytes([content[0] ^ 1]) + content[1:],
            content[:-1] + bytes([content[-1] ^ 1]),
            content[:-2],
            None,
        ):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            code, output = verify(runs / "run")
            path.write_bytes(content)
            # A missing lease is not damage. A missing run.json makes the folder another kind.
            if damaged is None and path.name in ("run.json", "000001.json", "text.json"):
                continue
            assert code == 2, path
            assert str(path) in output
    assert verify(runs / "run")[0] == 0


def test_folders_of_a_study_are_found(runs, tmp_path):
    for name in (PRETRAINING, FINETUNING):
        (tmp_path / "study" / name[:3]).mkdir(parents=True)
        (tmp_path / "study" / name[:3] / name).touch()
    assert find_training_folders(str(tmp_path / "study")) == []
    (tmp_path / "study" / STUDY).touch()
    shutil.copytree(text_of(runs), tmp_path / "study" / "text")
    found = find_training_folders(str(tmp_path / "study"))
    assert [Path(path).name for path in found] == ["study", "fin", "run", "text"]
    code, output = verify(tmp_path / "study")
    assert code == 2
    assert all(name in output for name in (PRETRAINING, FINETUNING, STUDY))


def test_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "notes.json").write_text("{}")
    assert find_training_folders(str(tmp_path)) == []
    assert find_training_folders(str(tmp_path / "missing")) == []
