"""`pretrain` and `finetune` of the package `training`: the functions behind the commands."""

import subprocess
import sys
from pathlib import Path

import pytest
import tiny_commands
from tiny_runs import curve_of
from tiny_tasks import write_model, write_task

from bitcipher import FinetuningResult, RunResult, finetune, pretrain
from bitcipher.errors import BitcipherError
from bitcipher.files.yaml_files import read_yaml
from training.models.checkpoint import load_model
from training.runs.recipe import find_recipe

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a corpus, its prepared text, and a run that the command trained."""
    folder = tmp_path_factory.mktemp("functions")
    tiny_commands.train(folder, folder / "by-command")
    return folder


def settings_of(made, *others):
    return [*tiny_commands.SETTINGS, f"text.sources=[{made / 'corpus'}]", *others]


def test_all_forms_of_a_recipe_train_the_run_of_the_command(made, tmp_path):
    path = find_recipe("figure-4-random")
    for number, recipe in enumerate(("figure-4-random", Path(path), read_yaml(path))):
        result = pretrain(recipe, tmp_path / str(number), settings=settings_of(made), prepared=made / "prepared")
        assert curve_of(tmp_path / str(number)) == curve_of(made / "by-command")
        assert result.folder == str(tmp_path / str(number))
        assert result.model_name == "checkpoints/00000006"
        assert load_model(result.checkpoint).config.n_layer == 2
        assert (result.stopped_early, result.remarks) == (False, ())
    last = curve_of(made / "by-command")[-1]
    assert {name: result.metrics[name] for name in last} == last


def test_recipe_of_the_caller_is_not_changed(made, tmp_path):
    recipe = read_yaml(find_recipe("figure-4-random"))
    with pytest.raises(BitcipherError, match=r"The recipe with --set .*`loop.max_steps` must be at least 1, got 0"):
        pretrain(recipe, tmp_path, settings=["loop.max_steps=0"])
    assert recipe == read_yaml(find_recipe("figure-4-random"))
    assert list(tmp_path.iterdir()) == []


def test_early_stop_is_reported_and_a_second_call_trains_nothing(made, tmp_path, capsys):
    """The learning rate rises until the loss does."""
    stopping = ("loop.max_steps=24", "loop.eval_steps=2", "loop.early_stopping_patience=2", "loop.save_total_limit=1")
    settings = settings_of(made, *stopping, "loop.learning_rate=1", "loop.warmup_steps=24")
    results = [pretrain("figure-4-random", tmp_path / "run", settings=settings) for _ in range(2)]
    (stop, model), (nothing, same) = (result.remarks for result in results)
    last = curve_of(tmp_path / "run")[-1]
    best = last["best_step"]
    assert best < last["step"] < 24
    assert f"stopped early at step {last['step']}: the validation loss did not improve in 2 evaluations" in stop
    assert nothing.startswith("Nothing was trained, because the run has stopped early")
    assert f"The model is the checkpoint of step {best}, which has the lowest validation loss" in model
    assert model == same
    for result in results:
        assert (result.stopped_early, result.metrics["step"]) == (True, best)
        assert Path(result.checkpoint).name == f"{best:08d}"
        assert load_model(result.checkpoint)


def test_finetune_returns_scores_and_metrics(tmp_path):
    model, data = write_model(tmp_path / "model"), write_task(tmp_path / "cola", "cola", 40)
    settings = ["loop.max_steps=4", "loop.eval_steps=2", "loop.device=cpu"]
    result = finetune(model, "cola", data, tmp_path / "run", settings=settings)
    assert isinstance(result, FinetuningResult)
    assert isinstance(result, RunResult)
    assert result.scores[result.main_metric] == result.metrics[result.main_metric]
    assert (result.metrics["step"], result.model_name) == (4, "checkpoints/00000004")
    assert result.baselines


def test_import_of_the_package_loads_no_libraries():
    """The functions are loaded when they are used."""
    program = "import sys, training, bitcipher; assert 'pretrain' in bitcipher.__all__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "ray", "pydantic", "numpy", "transformers", "training.runs.launch"} & set(loaded)
