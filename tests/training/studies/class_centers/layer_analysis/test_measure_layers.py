"""Layer metrics of a tiny run: values at every checkpoint, table and figure."""

import json
import shutil

import labeled
import numpy as np
import pytest
from matplotlib.image import imread
from tiny_runs import config_of

from bitcipher.errors import BitcipherError
from training.comparison.curves.run_groups import read_run
from training.evaluation.probes.tasks import read_task
from training.runs.pretraining_run import run_pretraining
from training.studies.class_centers.layer_analysis.checkpoint_metrics import measure_layers
from training.studies.class_centers.layer_analysis.layer_figure import draw_layers
from training.studies.class_centers.layer_analysis.records import LayerMetric, to_table


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny_text, one_thread):
    folder = tmp_path_factory.mktemp("runs") / "random-1"
    loop = {"max_steps": 60, "save_steps": 30, "learning_rate": 0.02, "precision": "float32"}
    run_pretraining(config_of(folder, tiny_text, model={"num_hidden_layers": 2}, loop=loop))
    return folder


def value(records, step, layer, part, metric):
    (found,) = (r.value for r in records if (r.step, r.layer, r.part, r.metric) == (step, layer, part, metric))
    return found


@pytest.mark.long
def test_every_checkpoint_and_layer_has_all_metrics(run, tmp_path):
    task = read_task("pos", str(labeled.write_gum(tmp_path / "gum", 40)))
    shown = []
    files = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}

    def begin(checkpoints):
        assert checkpoints == 3
        return shown.append

    records = measure_layers(run, 12, 32, task, begin)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == files
    assert shown == [0, 30, 60]
    of_tokens = ("ncc_accuracy", "ncc_mismatch", "model_accuracy")
    metrics = {(part, name) for part in ("train", "held out") for name in of_tokens} | {("held out", "pos_accuracy")}
    expected = {(step, layer, *metric) for step in (0, 30, 60) for layer in range(3) for metric in metrics}
    assert {(r.step, r.layer, r.part, r.metric) for r in records} == expected
    assert len(records) == len(expected)
    assert all(0 <= record.value <= 1 for record in records)
    assert measure_layers(run, 12, 32, task) == records
    # Training increases the accuracies of the last layer and decreases the mismatch.
    assert value(records, 60, 2, "held out", "model_accuracy") > value(records, 0, 2, "held out", "model_accuracy")
    assert value(records, 60, 2, "held out", "ncc_accuracy") > value(records, 0, 2, "held out", "ncc_accuracy")
    assert value(records, 60, 2, "held out", "ncc_mismatch") < value(records, 0, 2, "held out", "ncc_mismatch")

    table = to_table(records)
    assert table.column_names == ["step", "layer", "part", "metric", "value"]
    assert table.to_pylist()[0] == vars(records[0])
    for name in ("one.png", "other.png"):
        draw_layers(records, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()
    assert imread(tmp_path / "one.png").shape[0] > 1000  # three rows of panels


def test_step_0_is_initial_model(run):
    first = [record for record in measure_layers(run, 5, 8) if record.step == 0]
    # The initial model can only guess among five classes.
    assert value(first, 0, 2, "train", "model_accuracy") < 0.6
    assert {record.layer for record in first} == {0, 1, 2}


def test_draw_many_steps_and_missing_values(tmp_path):
    records = [
        LayerMetric(step, layer, part, "ncc_accuracy", np.nan if part == "held out" else layer / 10)
        for step in range(0, 3000, 100)
        for layer in range(15)
        for part in ("train", "held out")
    ]
    draw_layers(records, tmp_path / "layers.png")
    assert imread(tmp_path / "layers.png").shape[0] > 300


def test_invalid_run_raises(run, tmp_path):
    with pytest.raises(BitcipherError, match="not a run with a checkpoint"):
        measure_layers(tmp_path, 5, 8)
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    config = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps(config | {"text": str(tmp_path / "gone")}))
    with pytest.raises(BitcipherError, match=r"There is no text\.json in .*gone"):
        measure_layers(copy, 5, 8)
    (copy / "run.json").write_text("{}")
    with pytest.raises(BitcipherError, match=r"run\.json: `recipe` is missing"):
        measure_layers(copy, 5, 8)
    (copy / "run.json").unlink()
    with pytest.raises(BitcipherError, match="not a run"):
        measure_layers(copy, 5, 8)


def test_run_of_a_discriminator_raises(tmp_path, tiny_text, one_thread):
    model = {"architecture": "roberta", "generator_layers": 1}
    run_pretraining(
        config_of(tmp_path, tiny_text, model=model, objective={"name": "replaced_tokens"}, loop={"max_steps": 1})
    )
    with pytest.raises(BitcipherError, match="trains a discriminator, which predicts no tokens"):
        measure_layers(tmp_path, 12, 32)


def test_run_of_an_encoder_of_sentences_raises(tmp_path, tiny_text, one_thread):
    model = {"architecture": "roberta", "projector_size": 4}
    run_pretraining(config_of(tmp_path, tiny_text, model=model, objective={"name": "simclr"}, loop={"max_steps": 1}))
    with pytest.raises(BitcipherError, match="trains an encoder of sentences, which predicts no tokens"):
        measure_layers(tmp_path, 12, 32)
    with pytest.raises(BitcipherError, match="has no perplexity, because its objective simclr predicts no tokens"):
        read_run(tmp_path)
