"""Trackers in general: TensorBoard, missing libraries, and options. The others have tests of their own."""

import sys

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tiny_runs import Interruption, config_of, curve_of, interrupting_after

from bitcipher.errors import BitcipherError
from training.loop.options import LoopOptions
from training.loop.trackers.open_trackers import check_trackers
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")


def numbers_in(folder):
    """Return the metrics of a run by name and step, in float32, as TensorBoard stores them."""
    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    return {(name, event.step): event.value for name in events.Tags()["scalars"] for event in events.Scalars(name)}


def event_files(folder):
    return list((folder / "tensorboard").iterdir())


def test_tensorboard_has_the_metrics_of_a_resumed_run_and_nothing_else(tiny_text, tmp_path):
    config = config_of(tmp_path, tiny_text)

    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(6))
    run_pretraining(config)
    expected = {(name, line["step"]): line[name] for line in curve_of(tmp_path) for name in line if name != "step"}
    found = {(name, step): value for (name, step), value in numbers_in(tmp_path).items() if name != "seconds"}
    assert found == pytest.approx(expected, rel=1e-6)


def test_complete_run_reports_nothing_more(tiny_text, tmp_path):
    config = config_of(tmp_path, tiny_text)
    run_pretraining(config)
    before = event_files(tmp_path)
    run_pretraining(config)
    assert event_files(tmp_path) == before


def test_run_without_trackers_writes_no_files_of_them(tiny_text, tmp_path):
    run_pretraining(config_of(tmp_path, tiny_text, loop={"report_to": []}))
    assert {path.name for path in tmp_path.iterdir()} == {
        "checkpoints",
        "files.json",
        "metrics.jsonl",
        "recipe.yaml",
        "run.json",
        "tokenizer.json",
        "tokenizer_config.json",
    }


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_missing_library_is_an_error_that_names_its_extra(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    with pytest.raises(BitcipherError, match=rf"`loop.report_to` {name} needs .*\[{name}\]"):
        check_trackers(["tensorboard", name])


def test_unknown_tracker_is_an_error():
    with pytest.raises(BitcipherError, match="tensorboard, wandb or mlflow, got 'comet'"):
        LoopOptions.parse({"report_to": ["comet"]})
