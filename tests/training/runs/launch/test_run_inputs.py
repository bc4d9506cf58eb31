"""Inputs of runs: a finished run needs none that is gone, and no file of another run is taken over."""

import json
import shutil
from pathlib import Path

import pytest
import tiny_pairs
import tiny_tasks
from tiny_prepared import written
from tiny_runs import tiny_documents

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files
from pipelines.runtime.progress import StageProgress
from training.runs.launch.finetuning import launch_finetuning
from training.runs.launch.pretraining import launch_pretraining
from training.runs.prepare import recipe_inputs
from training.runs.recipe import Recipe
from training.search.finetuning_grid.grid import launch_grid
from training.search.finetuning_grid.options import GridOptions
from training.search.trials import TrialResources
from training.tasks.finetuning.options import make_finetune_options

pytestmark = pytest.mark.usefixtures("one_thread")

LOOP = {"max_steps": 4, "batch_size": 4, "eval_steps": 2, "save_steps": 2, "eval_sequences": 4, "device": "cpu"}
SIZES = {"num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}


class Sentences(StageProgress):
    """Progress that keeps its sentences."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


def recipe_of(corpus: Path) -> Recipe:
    text = {"sources": [str(corpus)], "tokenizer": {"vocab_size": 280}, "validation_fraction": 0.2}
    model = {"architecture": "gpt2", "max_position_embeddings": 16, **SIZES}
    values = {"text": text, "model": model, "objective": {"name": "causal"}, "loop": LOOP}
    return Recipe.parse(values, "test")


def train(recipe: Recipe, folder: Path, progress: StageProgress | None = None):
    return launch_pretraining(recipe, str(folder / "run"), str(folder / "prepared"), 0, progress or StageProgress())


def test_finished_run_returns_its_result_without_its_sources(tmp_path):
    recipe = recipe_of(written(tmp_path / "corpus"))
    result = train(recipe, tmp_path)
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*.json*") if "lease" not in str(path)}
    shutil.rmtree(tmp_path / "corpus")
    shutil.rmtree(tmp_path / "prepared")
    assert train(recipe, tmp_path) == result
    assert {path: path.read_bytes() for path in before} == before
    (tmp_path / "new").mkdir()
    with pytest.raises(BitcipherError, match="corpus"):
        train(recipe, tmp_path / "new")


def test_finished_run_on_pairs_returns_its_scores_without_its_pairs(tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in tiny_pairs.tiny_pairs()))
    values = tiny_pairs.RECIPE | {"text": tiny_pairs.RECIPE["text"] | {"sources": [str(pairs)]}}
    recipe = Recipe.parse(values, "test")
    result = train(recipe, tmp_path)
    pairs.unlink()
    assert train(recipe, tmp_path).text_pairs == result.text_pairs


def test_run_inside_of_its_sources_is_refused(tmp_path):
    corpus = written(tmp_path / "corpus")
    with pytest.raises(BitcipherError, match=r"run is inside of .*, which is read"):
        train(recipe_of(tmp_path), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {corpus.name}


def test_guessed_charsets_are_named(tmp_path):
    corpus = written(tmp_path / "corpus")
    lines = "El Niño y la piñata de mañana\n" * 40
    (corpus / "latin.txt").write_bytes(lines.encode("latin-1"))
    progress = Sentences()
    train(recipe_of(corpus), tmp_path, progress)
    assert "Decided while reading: 1 × file in cp1252 (guessed)." in progress.said


def test_renamed_sources_are_the_same_text(tmp_path):
    corpus = written(tmp_path / "corpus")
    result = train(recipe_of(corpus), tmp_path)
    (corpus / "c.txt").rename(corpus / "d.txt")
    assert train(recipe_of(corpus), tmp_path).metrics == result.metrics


def test_run_of_an_earlier_version_goes_on_with_a_sentence(tmp_path):
    corpus = written(tmp_path / "corpus")
    train(recipe_of(corpus), tmp_path)
    config = json_files.read(str(tmp_path / "run" / "run.json"))
    del config["inputs"]
    json_files.write(str(tmp_path / "run" / "run.json"), config)
    with (corpus / "a.txt").open("a") as stream:
        stream.write("\n".join(tiny_documents(10)))
    progress = Sentences()
    train(recipe_of(corpus), tmp_path, progress)
    assert any("did not record inputs" in sentence for sentence in progress.said)
    assert json_files.read(str(tmp_path / "run" / "run.json"))["inputs"] is None  # what is not known stays unknown


def test_run_of_another_version_of_a_stage_is_refused(tmp_path, monkeypatch):
    recipe = recipe_of(written(tmp_path / "corpus"))
    train(recipe, tmp_path)
    monkeypatch.setattr(recipe_inputs, "TRAINING_VERSION", 2)
    with pytest.raises(BitcipherError, match=r"training: version 1 → 2"):
        train(recipe, tmp_path)


def test_files_of_a_run_that_was_killed_before_its_metrics_are_not_taken_over(tmp_path):
    corpus = written(tmp_path / "corpus")
    run = tmp_path / "run"
    (run / "checkpoints" / "00000003").mkdir(parents=True)
    for name in ("embedding_init.json", "task.json", "tracker_ids.json", "notes.txt"):
        (run / name).write_text("{}")
    json_files.write(str(run / "run.json"), {"recipe": {}})
    train(recipe_of(corpus), tmp_path)
    names = {path.name for path in run.iterdir()}
    assert "notes.txt" in names  # of the user
    assert not names & {"embedding_init.json", "task.json"}
    assert {path.name for path in (run / "checkpoints").iterdir()} == {"00000002", "00000004"}


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    tiny_tasks.write_model(tmp_path / "model")
    tiny_tasks.write_task(tmp_path / "cola", "cola", 40)
    return tmp_path


def finetuning(folder: Path, **changes):
    values = {"model": str(folder / "model"), "task": "cola", "data": str(folder / "cola"), "num_train_epochs": None}
    loop = {"max_steps": 2, "batch_size": 16, "eval_steps": 2, "device": "cpu"}
    return make_finetune_options({**values, "loop": loop, **changes})


def test_finished_fine_tuning_returns_its_scores_without_model_and_data(tasks):
    def run():
        return launch_finetuning(finetuning(tasks), str(tasks / "run"), 0, StageProgress())

    result = run()
    shutil.rmtree(tasks / "model")
    assert run().scores == result.scores
    shutil.rmtree(tasks / "cola")
    assert run() == result
    tiny_tasks.write_task(tasks / "cola", "cola", 44)
    with pytest.raises(BitcipherError, match=r"data: .*train\.tsv has changed"):
        run()


def test_refused_grid_keeps_its_files(tasks):
    def run(grid: str):
        options = GridOptions(finetuning=finetuning(tasks), grid=(grid,))
        return launch_grid(options, str(tasks / "grid"), TrialResources(0), StageProgress())

    result = run("seed=[1, 2]")
    stored = (tasks / "grid" / "grid.json").read_bytes()
    with (tasks / "cola" / "dev.tsv").open("a") as stream:
        stream.write("made\t0\t\tlondon runs over hills\n")
    with pytest.raises(BitcipherError, match=r"trials/000-1 was made from other inputs \(data: .*dev\.tsv has changed"):
        run("seed=[1, 2, 3]")
    assert (tasks / "grid" / "grid.json").read_bytes() == stored
    shutil.rmtree(tasks / "cola")
    shutil.rmtree(tasks / "model")
    assert run("seed=[1, 2]") == result
