"""Folders of runs: files that a killed driver left are removed, and those of the user are kept."""

from pathlib import Path

from pipelines.runtime.progress import StageProgress
from training.loop.stop_request import STOP
from training.runs.launch.run_dir import launch, leasing_run_dir


def write_result(config):
    Path(config["folder"], "result").touch()


def test_request_to_stop_a_killed_job_is_forgotten(tmp_path):
    for name in ("run.json", STOP):
        (tmp_path / name).touch()
    with leasing_run_dir(str(tmp_path), "run.json"):
        assert not (tmp_path / STOP).exists()
        assert (tmp_path / "run.json").exists()


def test_launch_removes_only_folders_of_killed_drivers(tmp_path):
    for name in ("ray-0123abcd", "ray-notes", "ray-2026"):
        (tmp_path / name).mkdir()
    launch(str(tmp_path), "run.json", write_result, {}, lambda: 1, 0, "cpu", StageProgress())
    assert {path.name for path in tmp_path.iterdir()} == {"ray-notes", "ray-2026", "run.json", "result"}
