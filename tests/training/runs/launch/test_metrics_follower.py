"""Progress of a run from its metrics."""

from recorded_bars import RecordedBars

from training.loop.evaluation_progress import EVALUATING
from training.loop.file_names import METRICS
from training.runs.launch.metrics_follower import follow_metrics


def test_bar_shows_the_latest_metrics_even_if_lines_are_damaged(tmp_path):
    bars = RecordedBars()
    lines = ['{"step": 0, "perplexity": 1234.5}', "damaged", '{"step": 10, "loss": 2.5}', '{"step": "x", "loss": []}']
    with follow_metrics(str(tmp_path), lambda: 40, bars):
        (tmp_path / METRICS).write_text("\n".join(lines[:3]) + "\n")
    with follow_metrics(str(tmp_path), lambda: 40, bars):
        (tmp_path / METRICS).write_text("\n".join(lines) + "\n")
    assert bars.shown == [("train", 40, 10), (0, "loss 2.500  perplexity 1,234.5")]


def test_bar_of_an_early_stopped_run_is_filled(tmp_path):
    bars = RecordedBars()
    with follow_metrics(str(tmp_path), lambda: 40, bars):
        (tmp_path / METRICS).write_text('{"step": 8, "perplexity": 9.0, "stopped_early": 1}\n')
    assert bars.shown == [("train", 40, 8), (0, "perplexity 9.0"), "end"]


def test_bar_shows_the_progress_of_an_evaluation(tmp_path):
    bars = RecordedBars()
    (tmp_path / METRICS).write_text('{"step": 40, "loss": 2.0}\n')
    (tmp_path / EVALUATING).write_text('{"fraction": 0.254}')
    with follow_metrics(str(tmp_path), lambda: 40, bars):
        pass
    for damaged in ("{", '{"fraction": "x"}'):
        (tmp_path / EVALUATING).write_text(damaged)
        with follow_metrics(str(tmp_path), lambda: 40, bars):
            pass
    quiet = [("train", 40, 40), (0, "loss 2.000")]
    assert bars.shown == [("train", 40, 40), (0, "loss 2.000  evaluating 25 %"), *quiet, *quiet]
