"""`bitcipher study encoders embedding-sharing` with tiny models."""

import pytest
import tiny_commands
from tiny_tasks import write_task
from typer.testing import CliRunner

from cluster.cli.main import app
from training.loop.metrics_logger import read_metrics

FINETUNING = ("num_train_epochs=null", "loop.max_steps=3", "loop.batch_size=4", "loop.device=cpu", "max_seq_length=32")


@pytest.mark.long
def test_all_ways_are_trained_and_fine_tuned(tmp_path):
    corpus, data = tiny_commands.write_corpus(tmp_path / "corpus"), write_task(tmp_path / "squad2", "squad2", 12)
    line = ["study", "encoders", "embedding-sharing", corpus, "--data", data, "--out", tmp_path / "out", "--seeds", 2]
    line += [*tiny_commands.arguments_of(), "--set", "model.generator_layers=1"]
    line += [argument for setting in FINETUNING for argument in ("--set-finetuning", setting)]
    reports = []
    for _ in range(2):  # the second call trains nothing
        result = CliRunner().invoke(app, list(map(str, line)))
        assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
        reports.append(result.stdout)  # progress is on stderr
    assert reports[0] == reports[1]
    scores = (tmp_path / "out" / "scores.md").read_text()
    assert reports[0].startswith(scores)
    rows = {line.split("|")[1].strip(): line for line in scores.splitlines()[2:]}
    assert [*rows][:4] == ["es", "nes", "gdes", "random weights"]
    assert "baseline: no answer" in rows
    assert all(rows[name].count("±") == 2 for name in ("es", "nes", "gdes", "random weights"))
    assert rows["gdes"].endswith("| 87.2 / 84.5 |")
    curve = read_metrics(tmp_path / "out" / "gdes-2")
    assert curve[-1]["step"] == 6
    assert {"detection_accuracy", "replaced_accuracy", "masked_accuracy"} <= curve[-1].keys()
    assert (tmp_path / "out" / "curves.png").exists()
