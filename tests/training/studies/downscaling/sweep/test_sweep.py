"""`bitcipher sweep` in this process: results, resume and errors."""

import contextlib
import json
from pathlib import Path

import pytest
import tiny_study
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from cluster.cli.main import app
from training.loop.checkpoint_folders import latest_checkpoint
from training.loop.file_names import CHECKPOINTS
from training.search.trials import TrialResources
from training.studies.downscaling.sweep import trial_runs
from training.studies.downscaling.sweep.options import read_study
from training.studies.downscaling.sweep.study import fit_study
from training.studies.downscaling.sweep.trial_runs import stop_reason
from training.tasks.finetuning import finetuning_run

pytestmark = pytest.mark.usefixtures("one_thread")

SMALL, MIDDLE, LARGE = tiny_study.SHAPES
ONE = ("downstream.glue=null", "pretraining.inits=[random]", f"shapes.names=[{SMALL}, {LARGE}]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_study.write(tmp_path_factory.mktemp("study") / "folder")


def sweep(folder, out, *settings, options=()):
    """Run the command in the folder of its recipe."""
    line = ["sweep", "study.yaml", "--out", str(out), *(each for setting in settings for each in ("--set", setting))]
    with contextlib.chdir(folder):
        return CliRunner().invoke(app, [*line, *map(str, options)])


def done(folder, out, *settings, options=()):
    """Run the command, and return the folder of the study."""
    result = sweep(folder, out, *settings, options=options)
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return Path(out)


def mistake(result):
    """Return the error message of a failed command."""
    assert isinstance(result.exception, BitcipherError), f"{result.output}\n{result.exception!r}"
    return str(result.exception)


@pytest.fixture(scope="module")
def study(folder):
    """Return the folder of an uninterrupted study."""
    return done(folder, folder / "out")


@pytest.fixture(scope="module")
def findings(study):
    return findings_of(study)


def findings_of(study):
    return json.loads((study / "report" / "findings.json").read_text())


def runs_of(study):
    """Return the content and modification time of every file of every run."""
    files = [path for name in ("models", "tasks") for path in (study / name).rglob("*") if path.is_file()]
    return {path.relative_to(study): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def trained_in(study):
    """Return content and modification time of all metrics files, which a repeated run would rewrite."""
    return {path: content for path, content in runs_of(study).items() if path.name == "metrics.jsonl"}


def curve_of(run):
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def test_study_reports_all_trials(study, findings):
    report = {path.name for path in (study / "report").iterdir()}
    assert {"report.html", "tables.md", "findings.json", "figure-1.png", "figure-4.png", "inits.png"} <= report
    names = {f"{shape}{init}" for shape in tiny_study.SHAPES for init in ("", "-cipher")}
    assert {model["name"] for model in findings["models"]} == names
    for model in findings["models"]:
        assert [point["step"] for point in model["evaluations"]] == [0, 6, 12, 18, 24]
        assert model["evaluations"][1]["sequences"] == 48
        assert model["test_loss"] < model["evaluations"][0]["loss"]
        assert (study / "models" / model["name"] / "embedding_init.json").exists() == (model["init"] == "cipher")
    # The smallest and the largest shape with both inits, on filtered and all examples, and baselines of random init.
    kinds = {(each["model"], each["filtered"], each["random_init"]) for each in findings["scores"]}
    both = {
        (f"{shape}{init}", kind, False)
        for shape in (SMALL, LARGE)
        for init in ("", "-cipher")
        for kind in (True, False)
    }
    assert kinds == both | {(SMALL, True, True), (LARGE, True, True)}
    assert len(findings["scores"]) == len(kinds)
    tables = (study / "report" / "tables.md").read_text()
    assert all(f"## Table {number}" in tables for number in "12346")
    assert findings["recipe"]["pretraining"]["loop"]["lr_scheduler_type"] == "inverse_sqrt"


def test_earlier_checkpoints_are_fine_tuned(folder, tmp_path):
    settings = ("pretraining.inits=[random]", f"shapes.names=[{SMALL}, {LARGE}]", "downstream.filtered=[false]")
    loop = ("pretraining.loop.eval_steps=8", "downstream.checkpoints=[0.3, 0.6]", "downstream.random_baselines=false")
    findings = findings_of(done(folder, tmp_path / "out", *settings, *loop))
    names = {f"{shape}@{step}" for shape in (SMALL, LARGE) for step in (8, 16)}
    assert {each["name"] for each in findings["checkpoints"]} == names
    assert {each["model"] for each in findings["scores"]} == names | {SMALL, LARGE}
    for each in findings["checkpoints"]:
        assert each["evaluations"][-1]["step"] == int(each["name"].split("@")[1])
    options = json.loads(
        (tmp_path / "out" / "tasks" / f"{SMALL}@8" / "cola-unfiltered-1" / "finetune.json").read_text()
    )
    assert options["options"]["step"] == 8
    assert "| 16 |" in (tmp_path / "out" / "report" / "tables.md").read_text()


def test_fine_tuning_checkpoints_are_removed(study):
    for run in (study / "tasks").glob("*/*"):
        assert (run / "predictions.json").exists()
        assert not (run / CHECKPOINTS).exists()
    assert latest_checkpoint(study / "models" / LARGE).name == "00000024"


def test_finished_study_is_not_repeated(folder, study):
    runs = trained_in(study)
    contents = {path: content for path, (content, _) in runs_of(study).items()}
    report = {path.name: path.read_bytes() for path in (study / "report").iterdir()}
    done(folder, study)
    assert trained_in(study) == runs
    assert {path: content for path, (content, _) in runs_of(study).items()} == contents
    assert {path.name: path.read_bytes() for path in (study / "report").iterdir()} == report


def test_changed_options_of_existing_trial_raise(folder, study):
    runs = runs_of(study)
    message = mistake(sweep(folder, study, "pretraining.loop.max_steps=30"))
    assert f"{study}/models/{LARGE} holds a run with other options (loop.max_steps " in message
    assert runs_of(study) == runs


@pytest.mark.parametrize(
    ("settings", "options", "sentence"),
    [
        (["sources=[]"], [], "A study needs a corpus"),
        (["language.top=null"], [], "A study needs a vocabulary"),
        ([], ["--scale", 0.5, "--budget", "1h"], "--scale or --budget, not both"),
        ([], ["--scale", 2], "`--scale` must be"),
        (
            [],
            ["--budget", "soon"],
            "got 'soon'",
        ),
        ([], ["--budget", "0h"], "got '0h'"),
        ([], ["--gpus", 0.5], "--max-concurrent-trials"),
        (["language.spam=1"], [], "The study's language: there is no option `spam`; choose from document"),
        (["choice.kinds=[]"], [], "The study's choice"),
    ],
)
def test_invalid_study_options_raise(folder, tmp_path, settings, options, sentence):
    assert sentence in mistake(sweep(folder, tmp_path / "out", *settings, options=options))
    assert not (tmp_path / "out" / "language").exists()


def test_study_in_folder_of_other_files_raises(folder, tmp_path):
    (tmp_path / "letter.txt").write_text("Dear")
    message = mistake(sweep(folder, tmp_path))
    assert message.startswith(f"{tmp_path} is not empty, and does not hold a run with study.json")


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("downstream.tasks=[cola, rte]", "RTE/dev.tsv"),
        ("downstream.num_train_epochs=0", "`downstream.num_train_epochs` must be greater than 0"),
        ("pretraining.max_position_embeddings=3000", "The development split of the language has 2,"),
        ("language.document=file", "split of the language is empty (documents read: 2); use more documents"),
    ],
)
def test_mistakes_raise_before_training(folder, study, setting, sentence):
    before = trained_in(study)
    assert sentence in mistake(sweep(folder, folder / f"mistaken-{setting.split('=')[0]}", setting))
    assert not list(folder.glob("mistaken-*/models/*/metrics.jsonl"))
    assert trained_in(study) == before


def test_task_without_training_examples_raises_before_training(folder, tmp_path):
    (tmp_path / "CoLA").mkdir()
    (tmp_path / "CoLA" / "dev.tsv").write_bytes((folder / "glue" / "CoLA" / "dev.tsv").read_bytes())
    message = mistake(sweep(folder, tmp_path / "out", f"downstream.glue={tmp_path}"))
    assert message.startswith(f"{tmp_path}/CoLA has no training examples")
    assert not (tmp_path / "out" / "models").exists()


@pytest.mark.smoke
def test_budget_uses_stored_speed(folder, tmp_path):
    with contextlib.chdir(folder):
        study = read_study("study.yaml", ["pretraining.loop.max_steps=100000000"])
        fitted = fit_study(study, str(tmp_path), None, 36_000, TrialResources(0))
        content = (tmp_path / "study.json").read_bytes()
        assert fitted.study.pretraining.loop.max_steps < 100_000_000
        assert fit_study(study, str(tmp_path), None, 36_000, TrialResources(2)) == fitted
        shorter = fit_study(study, str(tmp_path), None, 18_000, TrialResources(0))
        assert (tmp_path / "study.json").read_bytes() == content
        assert shorter.study.pretraining.loop.max_steps < fitted.study.pretraining.loop.max_steps


def test_diverged_models_are_stopped_and_reported(folder, tmp_path):
    out = done(folder, tmp_path / "out", *ONE, "pretraining.loop.learning_rate=1e6", "downstream.glue=glue")
    models = findings_of(out)["models"]
    assert [model["name"] for model in models] == [LARGE, SMALL]
    for model in models:
        assert model["test_loss"] is None
        assert model["evaluations"][-1]["step"] < 24
        assert f"{model['name']} was stopped: {model['stopped']}" in (out / "report" / "tables.md").read_text()
    assert not (out / "tasks").exists()
    before = runs_of(out)
    done(folder, out, *ONE, "pretraining.loop.learning_rate=1e6", "downstream.glue=glue")
    assert trained_in(out) == {path: content for path, content in before.items() if path.name == "metrics.jsonl"}


@pytest.mark.long
def test_diverged_fine_tuning_is_reported(folder, tmp_path):
    settings = (*ONE, "downstream.glue=glue", "downstream.learning_rate=1e30", "downstream.random_baselines=false")
    out = done(folder, tmp_path / "out", *settings)
    scores = findings_of(out)["scores"]
    assert scores
    for score in scores:
        assert score["best"] is None
        assert score["stopped"].startswith("The loss or the gradient is not finite")
        assert score["stopped"] in (out / "report" / "tables.md").read_text()
    before = trained_in(out)
    done(folder, out, *settings)
    assert trained_in(out) == before


@pytest.mark.long
def test_interrupted_study_resumes_to_same_findings(folder, study, findings, tmp_path, monkeypatch):
    out = tmp_path / "out"

    def interrupted(module, name, at):
        """Interrupt the study at the given call of a function of its trials."""
        calls, function = iter(range(10**6)), getattr(module, name)

        def stopping(*arguments):
            if next(calls) == at:
                raise KeyboardInterrupt
            return function(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(module, name, stopping)
            result = sweep(folder, out)
        assert result.exit_code == 130
        assert "run the same command again" in result.output

    # The first model has seven calls. Call 10 is at step 12 of the second model, which has a checkpoint of step 8.
    interrupted(trial_runs, "stop_reason", 10)
    ended = [run.parent.name for run in (out / "models").glob("*/ended.json")]
    assert len(ended) == 1
    first = trained_in(out)
    (begun,) = (path for path in first if path.parent.name not in ended)
    assert latest_checkpoint(out / begun.parent).name == "00000008"
    interrupted(finetuning_run, "run_finetuning", 3)
    assert len(list((out / "tasks").glob("*/*/predictions.json"))) == 3
    both = trained_in(out)
    (kept,) = (path for path in first if path.parent.name in ended)
    assert both[kept] == first[kept]
    done(folder, out)
    assert {path: content for path, content in trained_in(out).items() if path in both} == both
    assert findings_of(out) == findings
    for path in both:
        assert curve_of((out / path).parent) == curve_of((study / path).parent)


@pytest.mark.long
def test_interrupted_study_in_a_store_equals_one_on_disk(folder, findings, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    out, calls = f"memory://{tmp_path}/out", iter(range(10**6))

    def stopping(*arguments):
        if next(calls) == 10:
            raise KeyboardInterrupt
        return stop_reason(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(trial_runs, "stop_reason", stopping)
        assert sweep(folder, out).exit_code == 130
    result = sweep(folder, out)
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    assert json.loads(storage.read_bytes(f"{out}/report/findings.json")) == findings
    assert not [name for name in storage.list_files(f"{out}/tasks") if "/checkpoints/" in name]


@pytest.mark.long
def test_added_seeds_and_shapes_run_only_new_trials(folder, tmp_path):
    out = done(folder, tmp_path / "out", f"shapes.names=[{SMALL}, {LARGE}]")
    before = trained_in(out)
    names = ", ".join(tiny_study.SHAPES)
    done(folder, out, f"shapes.names=[{names}]", "downstream.seeds=2")
    after = trained_in(out)
    assert {path: after[path] for path in before} == before
    new = {str(path.parent) for path in after.keys() - before.keys()}
    assert {path for path in new if path.startswith("models/")} == {f"models/{MIDDLE}", f"models/{MIDDLE}-cipher"}
    assert all(path.endswith("-2") for path in new if path.startswith("tasks/"))
    assert len(findings_of(out)["scores"]) == 20


@pytest.mark.long
def test_unconstrained_models_and_tokenizer_selection(folder, tmp_path):
    reference = next((done(folder, tmp_path / "first", *ONE) / "prepared").glob("*/tokenizer.json"))
    choice = f"choice={{sizes: {{bpe: [270, 290]}}, references: {{bpe: {reference}}}}}"
    out = done(folder, tmp_path / "out", *ONE, "pretraining.unconstrained=true", choice)
    found = findings_of(out)
    assert [(row["kind"], row["size"]) for row in found["tokenizers"]] == [("bpe", 270), ("bpe", 290), ("bpe", None)]
    assert sum(row["chosen"] for row in found["tokenizers"]) == 1
    names = {model["name"] for model in found["models"]}
    assert names == {SMALL, LARGE, f"{SMALL}-unconstrained", f"{LARGE}-unconstrained"}
    assert all(model["test_loss"] for model in found["models"])
    for language in ("constrained", "unconstrained"):
        assert (out / "tokenizers" / language / "choice.json").exists()
    tables = (out / "report" / "tables.md").read_text()
    assert "No shape was trained on both" not in tables
    before = trained_in(out)
    done(folder, out, *ONE, "pretraining.unconstrained=true", choice)
    assert trained_in(out) == before
