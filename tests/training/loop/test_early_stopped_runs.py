"""Early stopping: where runs end, which checkpoint is their model, and exact resume."""

import json
import shutil
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_runs import Interruption, config_of, curve_of, interrupting_after, merged
from transformers import EarlyStoppingCallback, TrainerControl, TrainerState
from two_processes import on_two

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from training.loop.checkpoint_folders import TrainingState, checkpoint_names, list_checkpoints, resolve_model_folder
from training.loop.early_stopping import note_evaluation, stops_early
from training.loop.options import LoopOptions
from training.runs.pretraining_run import evaluate_run, run_pretraining
from training.runs.recipe import Recipe

pytestmark = pytest.mark.usefixtures("one_thread")

PATIENCE = 2
STOPPING = {"early_stopping_patience": PATIENCE}
# The learning rate rises until the loss does.
LOOP = {"max_steps": 24, "eval_steps": 2, "save_steps": 3, "learning_rate": 1.0, "warmup_steps": 24}
ONE_WORKER = {"micro_batch_size": 4, "save_total_limit": 1}


def config_in(folder, text, **loop):
    return config_of(folder, text, loop=LOOP | ONE_WORKER | loop)


def weights_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.glob("checkpoints/*/*.safetensors")}


def without_best(curve):
    return [{name: line[name] for name in line if name not in ("best_step", "stopped_early")} for line in curve]


def plain_stop(losses):
    """Return the best step, and the step of the stop."""
    best, failures = None, 0
    for step, loss in losses.items():
        failures = 0 if best is None or loss < losses[best] else failures + 1
        best = step if failures == 0 else best
        if failures == PATIENCE:
            return best, step
    raise AssertionError("The loss of the run does not rise.")


@pytest.fixture(scope="module")
def losses(tiny_text, tmp_path_factory):
    """Return the metrics of a run without early stopping, and its validation losses after step 0."""
    folder = tmp_path_factory.mktemp("runs") / "full"
    run_pretraining(config_in(folder, tiny_text))
    evaluations = [line for line in curve_of(folder) if "validation_loss" in line]
    return curve_of(folder), {line["step"]: line["validation_loss"] for line in evaluations if line["step"]}


@pytest.fixture(scope="module")
def stopped(tiny_text, tmp_path_factory):
    """Return the folder of an uninterrupted run that stops early, which tests must not change."""
    folder = tmp_path_factory.mktemp("runs") / "stopped"
    run_pretraining(config_in(folder, tiny_text, **STOPPING))
    return folder


def test_run_ends_where_the_loss_of_the_whole_run_stops_to_fall(losses, stopped):
    whole, validation_losses = losses
    best, stop = plain_stop(validation_losses)
    assert 0 < best < stop < LOOP["max_steps"]
    curve = curve_of(stopped)
    assert without_best(curve) == [line for line in whole if line["step"] <= stop]
    assert (curve[-1]["best_step"], curve[-1]["stopped_early"]) == (best, 1)
    assert not any(line.get("stopped_early") for line in curve[:-1])


def test_best_checkpoint_is_kept_and_is_the_model(losses, stopped, tiny_text):
    _, validation_losses = losses
    best, stop = plain_stop(validation_losses)
    assert [int(path.name) for path in list_checkpoints(stopped)] == [best, stop]
    assert resolve_model_folder(str(stopped)) == str(stopped / "checkpoints" / f"{best:08d}")
    assert resolve_model_folder(str(stopped), stop) == str(stopped / "checkpoints" / f"{stop:08d}")
    with pytest.raises(BitcipherError, match=f"no checkpoint of step {best + stop}"):
        resolve_model_folder(str(stopped), best + stop)
    with pytest.raises(BitcipherError, match="not a run with a checkpoint"):
        resolve_model_folder(str(tiny_text), stop)
    recipe = Recipe.parse(config_in(stopped, tiny_text, **STOPPING)["recipe"])
    loss = evaluate_run(recipe, str(tiny_text), str(stopped))["validation_loss"]
    assert loss == pytest.approx(validation_losses[best], rel=1e-6)


def test_stopped_run_is_not_trained_again(stopped, tiny_text, tmp_path):
    run = shutil.copytree(stopped, tmp_path / "run")
    before = (run / "metrics.jsonl").read_bytes(), weights_of(run)
    run_pretraining(config_in(run, tiny_text, **STOPPING))
    assert ((run / "metrics.jsonl").read_bytes(), weights_of(run)) == before


@pytest.mark.parametrize("last", [1, 4, 6, 7])
def test_resumed_run_stops_at_the_same_step(stopped, tiny_text, tmp_path, last):
    config = config_in(tmp_path, tiny_text, **STOPPING)

    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(last))
    run_pretraining(config)
    assert curve_of(tmp_path) == curve_of(stopped)
    assert weights_of(tmp_path) == weights_of(stopped)


def test_damaged_last_checkpoint_is_written_again(stopped, tiny_text, tmp_path):
    """The checkpoint before is the best one, and it is intact."""
    run = shutil.copytree(stopped, tmp_path / "run")
    (list_checkpoints(run)[-1] / "model.safetensors").write_bytes(b"damaged")
    with pytest.warns(UserWarning, match="It was removed, and the run resumes from"):
        run_pretraining(config_in(run, tiny_text, **STOPPING))
    assert curve_of(run) == curve_of(stopped)
    assert weights_of(run) == weights_of(stopped)


def test_resumed_run_in_a_store_keeps_the_best_checkpoint(stopped, tiny_text, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    uri = f"memory://{tmp_path}/run"
    config = config_in(tmp_path, tiny_text, **STOPPING) | {"folder": uri}

    with pytest.raises(Interruption):
        run_pretraining(config, interrupting_after(5))
    run_pretraining(config)
    names = checkpoint_names(uri)
    assert names == checkpoint_names(str(stopped))
    assert resolve_model_folder(uri) == f"{uri}/checkpoints/{names[0]}"
    for name in names:
        file = f"checkpoints/{name}/model.safetensors"
        assert storage.read_bytes(f"{uri}/{file}") == (stopped / file).read_bytes()
    storage.remove(uri)


def test_all_best_checkpoints_of_kept_ones_are_kept(tiny_text, tmp_path):
    """A resumed run finds the best checkpoint that its state names."""
    run_pretraining(config_in(tmp_path, tiny_text, **STOPPING, save_total_limit=3))
    names = [path.name for path in list_checkpoints(tmp_path)]
    states = [json.loads((tmp_path / "checkpoints" / name / "state.json").read_text()) for name in names[-3:]]
    assert {f"{state['best_step']:08d}" for state in states} <= set(names)


def test_missing_best_checkpoint_raises(stopped, tmp_path):
    run = shutil.copytree(stopped, tmp_path / "run")
    best = list_checkpoints(run)[0]
    shutil.rmtree(best)
    with pytest.raises(BitcipherError, match=f"lacks the checkpoint of step {int(best.name)}, which is its model"):
        resolve_model_folder(str(run))


@pytest.mark.slow
def test_two_workers_stop_where_one_does(stopped, tiny_text, tmp_path):
    on_two(run_pretraining, config_in(tmp_path, tiny_text, **STOPPING))
    curve = curve_of(tmp_path)
    assert [line["step"] for line in curve] == [line["step"] for line in curve_of(stopped)]
    assert curve[-1]["best_step"] == curve_of(stopped)[-1]["best_step"]
    assert [path.name for path in list_checkpoints(tmp_path)] == [path.name for path in list_checkpoints(stopped)]


@given(
    losses=st.lists(st.integers(0, 20).map(lambda loss: loss / 4), min_size=1, max_size=12),
    patience=st.integers(1, 4),
    threshold=st.sampled_from([0.0, 0.25, 0.5]),
)
def test_rules_are_those_of_transformers(losses, patience, threshold):
    callback, trainer, control = EarlyStoppingCallback(patience, threshold), TrainerState(), TrainerControl()
    arguments = SimpleNamespace(metric_for_best_model="eval_loss", greater_is_better=False)
    options = LoopOptions(early_stopping_patience=patience, early_stopping_threshold=threshold)
    state = TrainingState()
    for step, loss in enumerate(losses, 1):
        callback.on_evaluate(arguments, trainer, control, metrics={"eval_loss": loss})
        # The Trainer does this after the callback.
        trainer.best_metric = loss if trainer.best_metric is None else min(trainer.best_metric, loss)
        state = note_evaluation(state.model_copy(update={"step": step}), loss, options)
        assert stops_early(state, options) is control.should_training_stop
        assert state.best_validation_loss == trainer.best_metric
        if control.should_training_stop:
            break


@pytest.mark.parametrize(
    ("loop", "sentence"),
    [
        ({"early_stopping_patience": 0}, "`loop.early_stopping_patience` must be at least 1"),
        ({"early_stopping_threshold": 0.1}, "`loop.early_stopping_threshold` needs `loop.early_stopping_patience`"),
        ({**STOPPING, "early_stopping_threshold": -1}, "`loop.early_stopping_threshold` must be at least 0"),
    ],
)
def test_invalid_options_raise(loop, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        Recipe.parse(merged(Recipe().to_dict(), {"loop": loop}))
