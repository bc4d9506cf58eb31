import numpy as np
import pytest
from finetune_runs import finetuned, read
from tiny_runs import curve_of
from tiny_tasks import NAMES, TASKS, write_model, write_task

from training.loop import checkpoint_of
from training.models import load_model

pytestmark = pytest.mark.usefixtures("one_thread")

# Spearman cannot be 100 where half of the values are the same.
FIGURES = {"cola": "matthews", "stsb": "pearson", "squad": "exact_match", "squad2": "exact", "entities": "f1"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The files of all tasks."""
    folder = tmp_path_factory.mktemp("tasks")
    for task in TASKS:
        write_task(folder / task, task)
    return folder


@pytest.mark.parametrize("task", TASKS)
def test_each_kind_of_task_is_learnt(made, tmp_path, task):
    model = write_model(tmp_path / "model")
    run = finetuned(tmp_path / "run", model, task, made / task, epochs=12)
    scores = read(run / "predictions.json")["scores"]
    assert scores[FIGURES[task]] > 95
    evaluations = [line for line in curve_of(run) if "validation_loss" in line]
    assert evaluations[0][FIGURES[task]] < 80
    assert evaluations[0]["validation_loss"] > 3 * evaluations[-1]["validation_loss"]
    # The last evaluation and the predictions are of the same model.
    assert {name: evaluations[-1][name] for name in scores} == scores


@pytest.mark.parametrize("architecture", ["bert", "gpt2", "opt", "t5"])
def test_each_architecture_learns(made, tmp_path, architecture):
    model = write_model(tmp_path / "model", architecture)
    run = finetuned(tmp_path / "run", model, "cola", made / "cola", epochs=12)
    assert read(run / "predictions.json")["scores"]["matthews"] > 95


@pytest.mark.long
def test_predictions_are_readable(made, tmp_path):
    model = write_model(tmp_path / "model")
    told = {
        task: read(finetuned(tmp_path / task, model, task, made / task, epochs=12) / "predictions.json")["predictions"]
        for task in TASKS
    }
    assert len({len(predictions) for predictions in told.values()}) == 1
    first = told["cola"][0]
    assert first.keys() == {"first", "second", "label", "predicted"}
    assert first["predicted"] == first["label"] in ("0", "1")
    assert all(isinstance(each["predicted"], float) for each in told["stsb"])
    assert {each["answer"] for each in told["squad"]} == set(NAMES)
    assert {each["answer"] for each in told["squad2"]} == {"", *NAMES}
    assert all((each["answer"] == "") == (each["no_answer_score"] > 0) for each in told["squad2"])
    assert all(each["candidates"][0]["text"] for each in told["squad2"])
    assert all(len(each["words"]) == len(each["tags"]) for each in told["entities"])


def test_the_model_is_one_that_transformers_opens(made, tmp_path):
    run = finetuned(tmp_path / "run", write_model(tmp_path / "model"), "entities", made / "entities", epochs=1)
    model = load_model(str(checkpoint_of(run)))
    assert type(model).__name__ == "RobertaForTokenClassification"
    assert model.config.id2label == {0: "O", 1: "I-LOC", 2: "I-PER"}
    assert (run / "tokenizer.json").exists()


def test_a_run_of_fine_tuning_can_be_fine_tuned(made, tmp_path):
    first = finetuned(tmp_path / "first", write_model(tmp_path / "model"), "cola", made / "cola", epochs=12)
    second = finetuned(tmp_path / "second", first, "entities", made / "entities", epochs=1)
    kept = read(second / "task.json")
    assert kept["new_weights"] == ["classifier.weight", "classifier.bias"]
    np.testing.assert_equal(kept["rows"], {"train": 160, "validation": 80})


def test_examples_are_kept_to_a_vocabulary(made, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("\n".join(["peter", "maria", "the", "house", "runs", "over", "blue", "hills", "and", "london"]))
    run = finetuned(
        tmp_path / "run", write_model(tmp_path / "model"), "cola", made / "cola", epochs=1, vocabulary=str(words)
    )
    notes = read(run / "task.json")
    assert 0 < notes["rows"]["train"] < 160
    assert "remain, in a vocabulary of 10 words" in notes["remarks"][0]
