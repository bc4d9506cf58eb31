import numpy as np
import pytest
from finetune_runs import LOOP, finetuned, read
from tiny_runs import curve_of
from tiny_tasks import NAMES, TASKS, write_model, write_task

from training.loop.checkpoint_folders import latest_checkpoint
from training.models.checkpoint import load_model

pytestmark = pytest.mark.usefixtures("one_thread")

# Spearman's correlation cannot be 100 if half of the values are equal.
FIGURES = {
    **{"cola": "matthews", "stsb": "pearson", "entities": "f1"},
    **{"squad": "exact_match", "squad2": "exact", "arcd": "exact_match"},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with the files of all tasks."""
    folder = tmp_path_factory.mktemp("tasks")
    for task in TASKS:
        write_task(folder / task, task)
    return folder


@pytest.mark.parametrize("task", TASKS)
def test_each_task_is_learned(made, tmp_path, task):
    model = write_model(tmp_path / "model")
    loop = LOOP | {"eval_on_start": True}
    run = finetuned(tmp_path / "run", model, task, made / task, num_train_epochs=12, loop=loop)
    scores = read(run / "predictions.json")["scores"]
    assert scores[FIGURES[task]] > 95
    evaluations = [line for line in curve_of(run) if "validation_loss" in line]
    assert evaluations[0][FIGURES[task]] < 80
    assert evaluations[0]["validation_loss"] > 3 * evaluations[-1]["validation_loss"]
    # The last evaluation and the predictions come from the same model.
    assert {name: evaluations[-1][name] for name in scores} == scores


@pytest.mark.parametrize("architecture", ["bert", "gpt2", "opt", "t5"])
def test_each_architecture_learns_task(made, tmp_path, architecture):
    model = write_model(tmp_path / "model", architecture)
    run = finetuned(tmp_path / "run", model, "cola", made / "cola", num_train_epochs=12)
    assert read(run / "predictions.json")["scores"]["matthews"] > 95


@pytest.mark.long
def test_predictions_file(made, tmp_path):
    model = write_model(tmp_path / "model")
    output = {
        task: read(finetuned(tmp_path / task, model, task, made / task, num_train_epochs=12) / "predictions.json")[
            "predictions"
        ]
        for task in TASKS
    }
    assert len({len(predictions) for predictions in output.values()}) == 1
    first = output["cola"][0]
    assert first.keys() == {"first", "second", "label", "predicted"}
    assert first["predicted"] == first["label"] in ("0", "1")
    assert all(isinstance(each["predicted"], float) for each in output["stsb"])
    assert {each["answer"] for each in output["squad"]} == set(NAMES)
    assert {each["answer"] for each in output["squad2"]} == {"", *NAMES}
    assert all((each["answer"] == "") == (each["no_answer_score"] > 0) for each in output["squad2"])
    assert all(each["candidates"][0]["text"] for each in output["squad2"])
    assert all(len(each["words"]) == len(each["tags"]) for each in output["entities"])


def test_transformers_opens_fine_tuned_model(made, tmp_path):
    run = finetuned(
        tmp_path / "run", write_model(tmp_path / "model"), "entities", made / "entities", num_train_epochs=1
    )
    model = load_model(str(latest_checkpoint(run)))
    assert type(model).__name__ == "RobertaForTokenClassification"
    assert model.config.id2label == {0: "O", 1: "I-LOC", 2: "I-PER"}
    assert (run / "tokenizer.json").exists()


def test_fine_tuning_of_fine_tuned_run(made, tmp_path):
    first = finetuned(tmp_path / "first", write_model(tmp_path / "model"), "cola", made / "cola", num_train_epochs=12)
    second = finetuned(tmp_path / "second", first, "entities", made / "entities", num_train_epochs=1)
    kept = read(second / "task.json")
    assert kept["new_weights"] == ["classifier.weight", "classifier.bias"]
    np.testing.assert_equal(kept["rows"], {"train": 160, "validation": 80})


def test_vocabulary_filters_examples(made, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("\n".join(["peter", "maria", "the", "house", "runs", "over", "blue", "hills", "and", "london"]))
    run = finetuned(
        tmp_path / "run",
        write_model(tmp_path / "model"),
        "cola",
        made / "cola",
        num_train_epochs=1,
        vocabulary=str(words),
    )
    notes = read(run / "task.json")
    assert 0 < notes["rows"]["train"] < 160
    assert "remain, in a vocabulary of 10 words" in notes["remarks"][0]
