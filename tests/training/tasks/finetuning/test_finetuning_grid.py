"""`bitcipher finetune --grid` in this process: trials, results, resume and errors."""

import json
from pathlib import Path

import pytest
import tiny_tasks
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from cluster.cli.main import app
from training.tasks.finetuning import finetuning_run

pytestmark = pytest.mark.usefixtures("one_thread")

# A number with more digits than tables show.
RATE = 0.003000012
GRID = (f"loop.learning_rate=[{RATE}, 1.0e-9]", "num_train_epochs=[4, 8]", "seed=[1, 2]")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    return tiny_tasks.write_model(folder / "model"), tiny_tasks.write_task(folder / "cola", "cola")


def finetune(inputs, out, *options, grid=GRID):
    model, data = inputs
    line = ["finetune", model, "--task", "cola", "--data", data, "--out", out, "--set", "loop.batch_size=16"]
    line += [each for text in grid for each in ("--grid", text)]
    return CliRunner().invoke(app, list(map(str, (*line, "--set", "loop.device=cpu", *options))))


def done(inputs, out, *options, **arguments):
    result = finetune(inputs, out, *options, **arguments)
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return result.output


def combinations_of(out):
    return json.loads((out / "trials.json").read_text())["combinations"]


@pytest.fixture(scope="module")
def grid(inputs, tmp_path_factory):
    """Return the folder of an uninterrupted grid, and what its command printed."""
    out = tmp_path_factory.mktemp("out") / "grid"
    return out, done(inputs, out)


def test_combinations_are_ranked_by_the_mean_over_seeds(grid):
    out, printed = grid
    rows = combinations_of(out)
    settings = [row["settings"] for row in rows]
    assert sorted(map(json.dumps, settings)) == sorted(
        json.dumps({"loop.learning_rate": rate, "num_train_epochs": epochs})
        for rate in (RATE, 1e-9)
        for epochs in (4.0, 8.0)
    )
    means = [row["mean_score"] for row in rows]
    assert means == sorted(means, reverse=True)
    for row in rows:
        scores = [trial["outcome"]["scores"]["matthews"] for trial in row["trials"]]
        assert [trial["seed"] for trial in row["trials"]] == [1, 2]
        assert row["mean_score"] == pytest.approx(sum(scores) / 2)
    # A learning rate of 1e-9 learns nothing.
    assert settings[0]["loop.learning_rate"] == RATE
    assert means[0] > 50 > 20 > means[-1]
    table = (out / "trials.md").read_text()
    assert table.startswith("| trials | loop.learning_rate | num_train_epochs | steps | matthews |")
    assert "baseline: most frequent label" in table
    assert table in printed
    assert not list(out.glob("trials/*/checkpoints"))


def test_printed_options_give_the_run_of_the_best_trial(inputs, grid, tmp_path):
    out, printed = grid
    (line,) = [line for line in printed.splitlines() if line.startswith("Options of the best combination")]
    best = combinations_of(out)[0]["trials"][0]
    done(inputs, tmp_path / "run", *line.partition(": ")[2].split(), "--seed", best["seed"], grid=())
    again = json.loads((tmp_path / "run" / "predictions.json").read_text())
    assert again["scores"] == best["outcome"]["scores"]
    options = json.loads((tmp_path / "run" / "finetune.json").read_text())["options"]
    assert options["loop"]["learning_rate"] == RATE
    metrics = Path(out, "trials", best["name"], "metrics.jsonl").read_text().splitlines()
    assert len(metrics) == len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines())


def test_interrupted_grid_gives_the_results_of_an_uninterrupted_one(inputs, grid, tmp_path, monkeypatch):
    out, calls = tmp_path / "grid", []

    def interrupted(values, advance=lambda step, note: None):
        calls.append(values["folder"])

        def stop(step, note):
            if len(calls) == 2 and step >= 20:
                raise KeyboardInterrupt

        return run_finetuning(values, stop)

    run_finetuning = finetuning_run.run_finetuning
    monkeypatch.setattr(finetuning_run, "run_finetuning", interrupted)
    assert finetune(inputs, out).exit_code == 130
    assert not (out / "trials.json").exists()
    done(inputs, out)
    assert len(calls) == 9  # eight trials, one of them twice
    for name in ("trials.json", "trials.md"):
        assert (out / name).read_bytes() == (grid[0] / name).read_bytes()


def test_more_seeds_are_added_without_repeating_trials(inputs, tmp_path):
    def times():
        return {path: path.stat().st_mtime_ns for path in tmp_path.glob("grid/trials/*/metrics.jsonl")}

    line = ("loop.learning_rate=[3.0e-3, 1.0e-3]", "num_train_epochs=[1]")
    done(inputs, tmp_path / "grid", grid=line)
    before = times()
    done(inputs, tmp_path / "grid", grid=(*line, "seed=[1, 2]"))
    after = times()
    assert {path: after[path] for path in before} == before
    assert {path.parent.name for path in after.keys() - before.keys()} == {"000-2", "001-2"}


def test_diverged_trial_ranks_its_combination_last(inputs, tmp_path):
    line = ("loop.learning_rate=[1.0e+30, 1.0e-4]", "num_train_epochs=[1]")
    done(inputs, tmp_path / "grid", grid=line)
    first, last = combinations_of(tmp_path / "grid")
    assert first["settings"]["loop.learning_rate"] == 1e-4
    assert last["mean_score"] is None
    assert "not finite" in last["trials"][0]["outcome"]["diverged"]
    assert "| diverged |" in (tmp_path / "grid" / "trials.md").read_text()
    failed = finetune(inputs, tmp_path / "all", grid=("loop.learning_rate=[1.0e+30]",))
    assert isinstance(failed.exception, BitcipherError)
    assert "No combination of options was trained without divergence" in str(failed.exception)
    header, _, row, *_ = (tmp_path / "all" / "trials.md").read_text().splitlines()
    assert header.count("|") == row.count("|")
    assert "diverged" in row


@pytest.mark.parametrize(
    ("grid", "options", "sentence"),
    [
        (["loop.batch_size"], [], "`--grid` must be NAME=VALUES"),
        (["loop.batch_size=8"], [], "must give a list of values"),
        (["loop.batch_size=[8"], [], "not valid YAML"),
        (["loop.batch_size=[8, x]"], [], "`loop.batch_size` must be an integer, got 'x'"),
        (["loop.spam=[8]"], [], "there is no option `loop.spam`"),
        (["task=[sst2]"], [], "`--task` determines it"),
        (["loop.batch_size=[8]", "loop.batch_size=[16]"], [], "must not repeat an option"),
        (["loop.batch_size=[8, 8]"], [], "gives two equal trials (loop.batch_size=8, seed=1)"),
        (["loop.max_steps=[8]"], [], "needs --set num_train_epochs=null"),
        (["loop.batch_size=[8]"], ["--workers", "2"], "`--workers` is for one run"),
        ([], ["--max-concurrent-trials", "2"], "`--max-concurrent-trials` is for several runs"),
        (["loop.batch_size=[8]"], ["--data", "missing"], "There is no folder"),
    ],
)
def test_mistakes_raise_before_anything_is_written(inputs, tmp_path, grid, options, sentence):
    result = finetune(inputs, tmp_path / "grid", *options, grid=grid)
    assert isinstance(result.exception, BitcipherError), f"{result.output}\n{result.exception!r}"
    assert sentence in str(result.exception)
    assert not (tmp_path / "grid").exists()


def test_damage_in_a_grid_is_found(inputs, tmp_path):
    done(inputs, tmp_path / "grid", grid=("num_train_epochs=[1]",))
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "grid")]).exit_code == 0
    predictions = tmp_path / "grid" / "trials" / "000-1" / "predictions.json"
    predictions.write_text(predictions.read_text().replace("scores", "scored"))
    result = CliRunner().invoke(app, ["verify", str(tmp_path / "grid")])
    assert result.exit_code != 0
    assert "predictions.json is damaged" in result.output


@pytest.mark.slow
@pytest.mark.ray
def test_concurrent_trials_on_ray_tune_give_the_same_results(ray_cluster, inputs, grid, tmp_path):
    done(inputs, tmp_path / "grid", "--max-concurrent-trials", 2)
    assert (tmp_path / "grid" / "trials.json").read_bytes() == (grid[0] / "trials.json").read_bytes()
