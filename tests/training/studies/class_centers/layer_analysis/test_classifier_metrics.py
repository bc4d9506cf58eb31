"""Class centers of fine-tuned classifiers."""

import json

import numpy as np
import pytest
import tiny_tasks
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from cluster.cli.main import app
from training.studies.class_centers.layer_analysis.center_metrics import HELD_OUT, TRAIN, Samples, center_metrics
from training.studies.class_centers.layer_analysis.classifier_metrics import measure_classifier
from training.tasks.finetuning.finetuning_run import run_finetuning
from training.tasks.finetuning.options import make_finetune_options
from training.tasks.finetuning.run_files import CONFIG

LOOP = {"learning_rate": 3e-3, "batch_size": 16, "max_steps": 60, "eval_steps": 30, "save_steps": 30, "device": "cpu"}


def fine_tune(folder, task, architecture):
    """Fine-tune a tiny model, and return the folder of the run with all its checkpoints."""
    model = tiny_tasks.write_model(folder / "model", architecture, num_hidden_layers=2)
    data = tiny_tasks.write_task(folder / task, task, 120)
    loop = LOOP | {"save_total_limit": None}
    values = {"model": str(model), "task": task, "data": str(data), "loop": loop, "num_train_epochs": None}
    (folder / "run").mkdir()
    config = {"options": make_finetune_options(values).to_dict(), "folder": str(folder / "run")}
    (folder / "run" / CONFIG).write_text(json.dumps(config))
    run_finetuning(config)
    return folder / "run"


def values(records, part, metric, layer):
    return [each.value for each in records if (each.part, each.metric, each.layer) == (part, metric, layer)]


def test_centers_of_hand_made_samples():
    train = Samples(np.array([[[0.0], [2.0], [10.0]]]), np.array([0, 0, 1]), lambda: np.array([0, 1, 1]))
    held_out = Samples(np.array([[[5.0], [6.0]]]), np.array([1, 1]), lambda: np.array([0, 0]))
    metrics = center_metrics({TRAIN: lambda: [train], HELD_OUT: lambda: [held_out]}, 2)
    # The centers are 1 and 10, so 5 is nearer to the first and 6 to the second.
    assert metrics[TRAIN, "ncc_accuracy"].tolist() == [1]
    assert metrics[TRAIN, "ncc_mismatch"] == pytest.approx([1 / 3])
    assert metrics[HELD_OUT, "ncc_accuracy"].tolist() == [0.5]
    assert metrics[HELD_OUT, "ncc_mismatch"].tolist() == [0.5]
    assert metrics[HELD_OUT, "model_accuracy"].tolist() == [0]


@pytest.mark.parametrize("architecture", ["bert", "gpt2", "t5"])
def test_centers_follow_the_labels_that_a_classifier_learns(architecture, tmp_path, one_thread):
    run = fine_tune(tmp_path, "cola", architecture)
    records = measure_classifier(run, 1000)
    assert sorted({record.step for record in records}) == [0, 30, 60]
    assert {record.layer for record in records} == {0, 1, 2}
    guesses = json.loads((run / "predictions.json").read_text())["predictions"]
    accuracy = np.mean([each["predicted"] == each["label"] for each in guesses])
    assert values(records, HELD_OUT, "model_accuracy", 2)[-1] == pytest.approx(accuracy)
    assert accuracy > 0.9
    first, *_, last = values(records, HELD_OUT, "ncc_accuracy", 2)
    assert last > max(0.9, first)
    first, *_, last = values(records, HELD_OUT, "ncc_mismatch", 2)
    assert last < min(0.1, first)


@pytest.mark.smoke
def test_command_measures_a_fine_tuned_run(tmp_path):
    run = fine_tune(tmp_path, "cola", "bert")
    result = CliRunner().invoke(
        app, ["study", "class-centers", "layers", str(run), "--out", str(tmp_path / "layers"), "--sequences", "40"]
    )
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    rows = (tmp_path / "layers" / "layers.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 * 3 * 2 * 3  # steps, layers, parts, metrics
    assert (tmp_path / "layers" / "layers.png").exists()


def test_task_without_classes_of_sentences_is_refused(tmp_path):
    run = fine_tune(tmp_path, "stsb", "bert")
    with pytest.raises(BitcipherError, match="no classes of sentences"):
        measure_classifier(run, 10)
