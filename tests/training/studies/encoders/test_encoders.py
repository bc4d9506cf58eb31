"""`bitcipher study encoders compare` with tiny models."""

import json

import pytest
import tiny_commands
from tiny_tasks import write_task
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from cluster.cli.main import app
from training.runs.recipe import find_recipe, read_recipe

RECIPES = ("bert", "roberta", "electra", "deberta", "deberta-v3")
MODELS = ("BERT", "BERT, random weights", "BERT, dynamic masks", "RoBERTa", "ELECTRA", "DeBERTa")
FINETUNING = ("num_train_epochs=null", "loop.max_steps=3", "loop.batch_size=4", "loop.device=cpu", "max_seq_length=32")


def reproduce(corpus, data, out, *more):
    line = ["study", "encoders", "compare", corpus, "--task", "cola", "--data", data, "--out", out, "--seeds", 1]
    line += [*tiny_commands.arguments_of(), "--set", "loop.save_steps=6", *more]
    line += [argument for setting in FINETUNING for argument in ("--set-finetuning", setting)]
    return CliRunner().invoke(app, list(map(str, line)))


@pytest.mark.smoke
def test_recipes_have_equal_sizes_text_and_steps():
    recipes = [read_recipe(find_recipe(name)) for name in RECIPES]
    names = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "max_position_embeddings")
    assert len({tuple(getattr(recipe.model, name) for name in names) for recipe in recipes}) == 1
    assert all(recipe.text == recipes[0].text for recipe in recipes)
    assert len({(recipe.loop.max_steps, recipe.loop.batch_size) for recipe in recipes}) == 1


@pytest.mark.long
def test_all_encoders_are_trained_and_fine_tuned(tmp_path):
    corpus, out = tiny_commands.write_corpus(tmp_path / "corpus"), tmp_path / "out"
    data, questions = write_task(tmp_path / "cola", "cola", 12), write_task(tmp_path / "squad", "squad", 12)
    reports = []
    for _ in range(2):  # the second call trains nothing
        result = reproduce(corpus, data, out, "--questions", questions)
        assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
        reports.append(result.stdout)  # progress is on stderr
    assert reports[0] == reports[1]
    scores = (out / "scores.md").read_text()
    assert reports[0].startswith(scores)
    rows = [line.split("|")[1].strip() for line in scores.splitlines()[2:]]
    assert rows == [*MODELS, "DeBERTa, random weights", "DeBERTaV3", "baseline: most frequent label"]
    architectures = {}
    for model in ("bert", "bert-dynamic-masks", "roberta", "electra", "deberta", "debertav3"):
        config = json.loads((out / f"cola-{model}-1" / "checkpoints" / "00000003" / "config.json").read_text())
        architectures[model] = config["model_type"]
        assert config["num_hidden_layers"] == 2  # that of the discriminator, not of the generator
    assert [*architectures.values()] == ["bert", "bert", "roberta", "bert", "deberta-v2", "deberta-v2"]


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (("--set-finetuning", "loop.learning_rat=1"), "learning_rat"),
        (("--set", "model.next_sentence=true"), "model.next_sentence"),
        (("--questions", "nowhere"), "nowhere"),
    ],
)
def test_wrong_options_are_found_before_training(tmp_path, wrong, sentence):
    corpus, data = tiny_commands.write_corpus(tmp_path / "corpus"), write_task(tmp_path / "cola", "cola", 4)
    result = reproduce(corpus, data, tmp_path / "out", *wrong)
    assert isinstance(result.exception, BitcipherError)
    assert sentence in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_missing_files_of_the_task_are_found_before_training(tmp_path):
    corpus = tiny_commands.write_corpus(tmp_path / "corpus")
    result = reproduce(corpus, tmp_path, tmp_path / "out")
    assert result.exit_code != 0
    assert "dev.tsv" in str(result.exception)
    assert not (tmp_path / "out").exists()
