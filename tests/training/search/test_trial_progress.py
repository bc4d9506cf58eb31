"""Progress of trials."""

import json
from functools import partial

from recorded_bars import RecordedBars

from training.loop.file_names import METRICS
from training.search.trials import Trial, TrialResources, run_stage


def write_metrics(folder):
    """Write the metrics of a run, like a trial."""
    lines = [{"step": 0, "perplexity": 1234.5}, {"step": 1200, "loss": 2.5}]
    with open(f"{folder}/{METRICS}", "w") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in lines)


def test_bar_shows_the_step_of_the_running_trial(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    folders = {name: str(tmp_path / name) for name in ("first", "second")}
    trials = [Trial(name, folder, partial(write_metrics, folder)) for name, folder in folders.items()]
    bars = RecordedBars()
    run_stage(trials, "pretrain", TrialResources(0), str(tmp_path), bars)
    assert bars.shown == [
        ("pretrain", 2, 0),
        (0, "of 2 trials"),
        (0, "first  step 1,200"),
        (1, "first"),
        (0, "second  step 1,200"),
        (1, "second"),
    ]
