"""`bitcipher tune` in this process: trials, results, resume and errors."""

import contextlib
import json
import shutil
from pathlib import Path

import pytest
import tiny_commands
import yaml
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from cluster.cli.main import app
from training.runs import pretraining_run
from training.runs.recipe import read_recipe
from training.search.trials import has_ended

pytestmark = pytest.mark.usefixtures("one_thread")

SEARCH = ("loop.learning_rate={loguniform: [1e-3, 1e-1]}", "loop.batch_size=[4, 8]")
LENGTH = 33  # tokens of text of a causal model with 32 positions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tune")
    tiny_commands.write_corpus(folder / "corpus")
    return folder


def tune(folder, out, *options, recipe="figure-4-random", search=SEARCH, settings=()):
    line = ["tune", recipe, "--out", out, *(each for text in search for each in ("--search", text)), *options]
    line += tiny_commands.arguments_of((*tiny_commands.SETTINGS, "text.sources=[corpus]", *settings))
    with contextlib.chdir(folder):
        return CliRunner().invoke(app, list(map(str, line)))


def done(folder, out, *options, **arguments):
    result = tune(folder, out, *options, **arguments)
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return Path(out)


def results_of(out):
    return json.loads((out / "trials.json").read_text())


def mistake(result):
    assert isinstance(result.exception, BitcipherError), f"{result.output}\n{result.exception!r}"
    return str(result.exception)


OPTIONS = ("--budget", "6steps", "--trials", 3, "--init", "random", "--init", "cipher")


@pytest.fixture(scope="module")
def search(folder):
    """Return the folder of an uninterrupted search."""
    return done(folder, folder / "out", *OPTIONS)


def test_every_combination_is_trained_with_both_inits_and_ranked(search):
    trials = results_of(search)["trials"]
    assert {each["name"] for each in trials} == {f"{n:03d}-{init}" for n in range(3) for init in ("random", "cipher")}
    losses = [each["score"]["validation_loss"] for each in trials]
    assert losses == sorted(losses)
    settings = {each["name"]: each["settings"] for each in trials}
    assert settings["001-random"] == settings["001-cipher"]
    assert settings["000-random"] == {"loop.learning_rate": 1e-3, "loop.batch_size": 4}
    assert all(1e-3 <= settings[f"{n:03d}-random"]["loop.learning_rate"] <= 1e-1 for n in (1, 2))
    assert all(
        each["steps"] == 6 and each["tokens"] == 6 * each["settings"]["loop.batch_size"] * LENGTH for each in trials
    )
    assert not list(search.glob("trials/*/checkpoints"))
    table = (search / "trials.md").read_text().splitlines()
    assert (
        table[0] == "| trial | loop.learning_rate | loop.batch_size | steps | tokens | validation loss | perplexity |"
    )
    assert table[2].startswith(f"| **{trials[0]['name']}** |")


def test_best_recipe_trains_to_the_loss_of_its_trial(folder, search, tmp_path):
    best = results_of(search)["trials"][0]
    recipe = read_recipe(str(search / "best.yaml"))
    assert recipe.loop.learning_rate == best["settings"]["loop.learning_rate"]
    assert (search / "best.yaml").read_text() == (search / f"best-{best['init']}.yaml").read_text()
    line = ["train", str(search / "best.yaml"), "--out", str(tmp_path / "run"), "--prepared", str(search / "prepared")]
    with contextlib.chdir(folder):
        assert CliRunner().invoke(app, line).exit_code == 0
    last = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["validation_loss"] == best["score"]["validation_loss"]


def test_finished_search_is_not_repeated_and_more_trials_are_added(folder, search):
    def times():
        return {path: path.stat().st_mtime_ns for path in search.glob("trials/*/metrics.jsonl")}

    before, results = times(), results_of(search)
    done(folder, search, *OPTIONS)
    assert (times(), results_of(search)) == (before, results)
    done(folder, search, *OPTIONS, "--trials", 4)
    after = times()
    assert {path: after[path] for path in before} == before
    assert {path.parent.name for path in after.keys() - before.keys()} == {"003-random", "003-cipher"}


def test_interrupted_search_gives_the_results_of_an_uninterrupted_one(folder, tmp_path, monkeypatch):
    options = ("--budget", "6steps", "--trials", 3)
    expected = done(folder, tmp_path / "straight", *options)
    calls = []

    def interrupted(values, advance=lambda step, note: None):
        calls.append(values["folder"])

        def stop(step, note):
            if len(calls) == 2 and step == 4:  # after a checkpoint
                raise KeyboardInterrupt

        return run_pretraining(values, stop)

    run_pretraining = pretraining_run.run_pretraining
    monkeypatch.setattr(pretraining_run, "run_pretraining", interrupted)
    out = tmp_path / "interrupted"
    assert tune(folder, out, *options).exit_code == 130
    assert not (out / "trials.json").exists()
    done(folder, out, *options)
    assert len(calls) == 4  # the first trial, the second one twice, the third
    for name in ("trials.json", "trials.md", "best.yaml"):
        assert (out / name).read_bytes() == (expected / name).read_bytes()


def test_search_over_lists_has_each_combination_once(folder, tmp_path):
    search = ("loop.batch_size=[4, 8]", "loop.warmup_steps=[0, 0.5]")
    out = done(folder, tmp_path / "out", "--budget", f"{8 * LENGTH}tokens", "--trials", 20, search=search)
    trials = results_of(out)["trials"]
    # The four combinations of the lists, and that of the recipe, whose warmup is another one.
    assert len({json.dumps(each["settings"]) for each in trials}) == len(trials) == 5
    assert {(each["settings"]["loop.batch_size"], each["steps"], each["tokens"]) for each in trials} == {
        (4, 2, 8 * LENGTH),
        (8, 1, 8 * LENGTH),
    }


def test_masking_shares_are_scored_by_the_masks_of_the_recipe(folder, tmp_path):
    search = ("objective.mlm_probability=[0.15, 0.6]",)
    masked = ("model.architecture=modernbert", "objective={name: masked, mlm_probability: 0.3}")
    # With this learning rate, all trials keep their initial weights.
    settings = (*masked, "loop.learning_rate=1e-30")
    out = done(
        folder, tmp_path / "out", "--budget", "1steps", search=search, settings=(*settings, "loop.learning_rate=1e-30")
    )
    trials = results_of(out)["trials"]
    assert {each["settings"]["objective.mlm_probability"] for each in trials} == {0.15, 0.3, 0.6}
    assert len({each["score"]["validation_loss"] for each in trials}) == 1


def test_diverged_trials_rank_last(folder, tmp_path):
    out = done(folder, tmp_path / "out", "--budget", "6steps", search=("loop.learning_rate=[1e30]",))
    first, last = results_of(out)["trials"]
    assert first["name"] == "000-random"
    assert last["score"]["validation_loss"] is None
    assert "not finite" in last["score"]["diverged"]
    assert "diverged" in (out / "trials.md").read_text()
    settings = ["loop.learning_rate=1e30"]
    failed = tune(folder, tmp_path / "all", "--budget", "6steps", search=SEARCH[1:], settings=settings)
    assert "All trials with random init diverged" in mistake(failed)


@pytest.mark.parametrize(
    ("search", "options", "sentence"),
    [
        (["loop.batch_size"], [], "`--search` must be NAME=VALUES"),
        (["loop.batch_size=8"], [], "must give a list of values"),
        (["loop.batch_size=[]"], [], "must give a list of values"),
        (["loop.batch_size=[4"], [], "not valid YAML"),
        (["loop.batch_size=[4, x]"], [], "`loop.batch_size` must be an integer, got 'x'"),
        (["loop.spam=[4]"], [], "there is no option `loop.spam`"),
        (["loop.learning_rate={loguniform: [0, 1]}"], [], "increasing numbers above 0, got 0 and 1"),
        (["loop.learning_rate={uniform: [1, 0]}"], [], "increasing numbers, got 1 and 0"),
        (["loop.learning_rate={uniform: [1]}"], [], "uniform"),
        (["loop.learning_rate={normal: [1, 2]}"], [], "there is no option `normal`; choose from loguniform, uniform"),
        (["loop.learning_rate={}"], [], "a range is either"),
        (["loop.max_steps=[1]"], [], "`--budget` determines it"),
        (["text.validation_fraction=[0.1]"], [], "varies options of a recipe"),
        (["loop.batch_size=[4]", "loop.batch_size=[8]"], [], "must not repeat a value"),
        (["loop.batch_size=[4]"], ["--budget", "soon"], "got 'soon'"),
        (["loop.batch_size=[4]"], ["--budget", "0steps"], "got '0steps'"),
        (["loop.batch_size=[4, 8]"], ["--budget", "200tokens"], "fewer than one step of 8 sequences of 33 tokens"),
        (["loop.batch_size=[4]"], ["--init", "warm"], "must be random or cipher, got 'warm'"),
        (["embeddings.build.window=[4]"], [], "need `embeddings.init` to be cipher"),
    ],
)
def test_mistakes_raise_before_anything_is_written(folder, tmp_path, search, options, sentence):
    result = tune(folder, tmp_path / "out", "--budget", "6steps", *options, search=search)
    assert sentence in mistake(result)
    assert not (tmp_path / "out").exists()


def test_changed_search_in_the_same_folder_raises(folder, search):
    before = results_of(search)
    assert "holds a run with other options (loop.max_steps" in mistake(
        tune(folder, search, *OPTIONS, "--budget", "7steps")
    )
    assert "holds a run with other options" in mistake(tune(folder, search, *OPTIONS, "--seed", 1))
    assert results_of(search) == before


@pytest.mark.slow
@pytest.mark.ray
def test_concurrent_trials_on_ray_tune_give_the_same_results(ray_cluster, folder, search, tmp_path):
    out = done(folder, tmp_path / "out", *OPTIONS, "--max-concurrent-trials", 2)
    assert results_of(out)["trials"] == [each for each in results_of(search)["trials"] if each["name"] < "003"]
    assert {path.name for path in out.iterdir()} == {path.name for path in search.iterdir()}


def test_damage_in_a_search_is_found(search, tmp_path):
    copy = shutil.copytree(search, tmp_path / "copy")
    assert CliRunner().invoke(app, ["verify", str(copy)]).exit_code == 0
    scored = copy / "trials" / "000-random" / "ended.json"
    scored.write_text(scored.read_text().replace("validation_loss", "validation_lost"))
    result = CliRunner().invoke(app, ["verify", str(copy)])
    assert result.exit_code != 0
    assert "ended.json is damaged" in result.output


def test_stored_recipes_are_plain_yaml(search):
    assert yaml.safe_load((search / "best.yaml").read_text())["loop"]["max_steps"] == 6
    assert has_ended(str(search / "trials" / "000-random"))
