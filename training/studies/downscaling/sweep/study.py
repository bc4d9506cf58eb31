"""Stages of a study: language, pre-training, fine-tuning, report. Finished work is not repeated."""

from collections.abc import Sequence
from functools import partial

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import Float, Record
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from training.loop.file_names import CONFIG as PRETRAINING
from training.loop.file_names import ENDED
from training.runs.launch.run_dir import leasing_run_dir, run_folder
from training.runs.prepare.recipe_inputs import inputs_of_recipes
from training.runs.prepare.vectors import prepare_vectors
from training.runs.recipe import Recipe
from training.search.trial_runs import TrialEnd, finetune_trial
from training.search.trials import Trial, TrialResources, TrialRun, has_ended, run_stage
from training.studies.downscaling.sweep.budget import Speed, fit_budget, scale_study
from training.studies.downscaling.sweep.findings import Findings
from training.studies.downscaling.sweep.language_data import PreparedLanguage, prepare_languages, read_tokenizer_rows
from training.studies.downscaling.sweep.options import Study
from training.studies.downscaling.sweep.page import write_report
from training.studies.downscaling.sweep.speed import measure_speed
from training.studies.downscaling.sweep.trial_results import at_step, read_model, read_score
from training.studies.downscaling.sweep.trial_runs import pretrain_trial
from training.studies.downscaling.sweep.trials import (
    FinetuningTrial,
    PretrainingTrial,
    finetuning_trials,
    make_recipe,
    make_trial_options,
    pretraining_trials,
)
from training.tasks.finetuning.options import FinetuneOptions
from training.tasks.finetuning.run_files import CONFIG as FINETUNING
from training.tasks.finetuning.run_inputs import inputs_of_runs
from training.tasks.finetuning.task_files import read_task

STUDY = "study.json"


class FittedStudy(Record):
    """Study that is run in a directory, after scaling; stored as `study.json`."""

    scale: Float | None = Field(gt=0, le=1)
    """Requested fraction of the sequences, or None."""
    seconds: Float | None = Field(gt=0)
    """Requested time budget in seconds, or None."""
    speed: Speed | None
    """Speed of the machine; None if it was not measured."""
    study: Study
    """Options of the scaled study."""


def launch_study(
    study: Study,
    out: str,
    scale: float | None,
    seconds: float | None,
    resources: TrialResources,
    progress: StageProgress,
) -> str:
    """Scale a study, run or resume it, and write its report, while this job holds the lease of the directory.

    Args and errors are those of `fit_study` and `run_study`.

    Returns:
        The path of the report.
    """
    with leasing_run_dir(out, STUDY):
        return run_study(fit_study(study, out, scale, seconds, resources), out, resources, progress)


def run_study(fitted: FittedStudy, out: str, resources: TrialResources, progress: StageProgress) -> str:
    """Run or resume a study, and write its report.

    Finished trials are not repeated. The options of all trials are checked before the first trial runs.

    Args:
        fitted: the study, after scaling.
        out: path or URI of the language, all runs and the report, shared by all workers.
        resources: resources of the trials.
        progress: progress display.

    Returns:
        The path of the report.

    Raises:
        BitcipherError: if the directory holds trials with other options, or an option is invalid.
    """
    study = fitted.study
    with open_runtime(resources.max_concurrent_trials) as runtime:
        accounting, languages = prepare_languages(study, out, runtime, progress)
        # Shapes are ordered by FLOPs, which depend on the vocabulary size of the constrained language.
        trials = pretraining_trials(study, next(iter(languages.values())).vocab_size)
        _check_tasks(finetuning_trials(study, trials), study, out)
        runs = _model_runs(trials, study, languages, out, runtime)
        # All of them before anything is written.
        for run in runs:
            run.check(progress)
        for run in _task_runs(finetuning_trials(study, trials), study, out):
            if run.has_ended:
                run.check(progress)
        _write_study(fitted, out)
        pretraining = [
            _prepare_model(run, languages[trial.language], out, runtime, progress)
            for run, trial in zip(runs, trials, strict=True)
        ]
    # The runtime is closed, so that its actors hold no CPU that the trials need.
    run_stage(pretraining, "pretrain", resources, out, progress)
    finished = [trial for trial in trials if _is_finished(storage.join(out, "models", trial.name))]
    task_trials = finetuning_trials(study, finished)
    task_runs = _task_runs(task_trials, study, out)
    for run in task_runs:  # again, because models can have been trained anew
        run.check(progress)
    run_stage([run.prepare(finetune_trial) for run in task_runs], "finetune", resources, out, progress)
    models = [
        read_model(
            trial,
            storage.join(out, "models", trial.name),
            languages[trial.language].vocab_size,
            study.pretraining.loop,
        )
        for trial in trials
    ]
    scores = [read_score(trial, storage.join(out, "tasks", trial.name)) for trial in task_trials]
    tuned = {(trial.model, trial.step) for trial in task_trials if trial.step is not None}
    findings = Findings(
        accounting=accounting,
        tokenizers=read_tokenizer_rows(out),
        models=tuple(model for model in models if model),
        checkpoints=tuple(
            at_step(model, step) for model in models if model for name, step in sorted(tuned) if name == model.name
        ),
        scores=tuple(score for score in scores if score),
        recipe=study.redacted().to_dict(),
    )
    return write_report(findings, storage.join(out, "report"))


def fit_study(
    study: Study, out: str, scale: float | None, seconds: float | None, resources: TrialResources
) -> FittedStudy:
    """Return the study to run in a directory, scaled down to the given scale or time.

    The machine's speed is measured once and stored, because another measurement would give another study. A study that
    is stored already is replaced by `run_study`, when its trials have been compared with the new one.

    Args:
        study: study of the recipe.
        out: path or URI of the study.
        scale: see `training.studies.downscaling.sweep.budget.scale_study`.
        seconds: time budget; it takes precedence over the scale.
        resources: resources of the trials.

    Raises:
        BitcipherError: if there is no corpus or no vocabulary, no scaled-down study fits the time budget, or the
            directory has other files.
    """
    if not study.sources:
        raise BitcipherError("A study needs a corpus; set its files or folders, such as --set sources=[FOLDER].")
    if study.vocabulary is None and study.language.get("top") is None:
        raise BitcipherError(
            "A study needs a vocabulary; set a file of words with --set vocabulary=FILE, or use the most frequent "
            "words of the corpus, such as --set language.top=3000."
        )
    path = storage.join(out, STUDY)
    run_folder(STUDY).check_usable(out)
    speed = FittedStudy.read(path).speed if storage.exists(path) else None
    if seconds is not None:
        speed = speed or measure_speed(study, resources.max_concurrent_trials)
        fitted = fit_budget(study, seconds, speed)
    else:
        fitted = study if scale is None else scale_study(study, scale)
    stored = FittedStudy(scale=scale, seconds=seconds, speed=speed, study=fitted)
    if not storage.exists(path):
        _write_study(stored, out)
    return stored


def _write_study(fitted: FittedStudy, out: str) -> None:
    json_files.write(storage.join(out, STUDY), fitted.redacted().to_dict())


def _model_runs(
    trials: Sequence[PretrainingTrial],
    study: Study,
    languages: dict[str, PreparedLanguage],
    out: str,
    runtime: Runtime,
) -> list[TrialRun]:
    recipes = []
    for trial in trials:
        language = languages[trial.language]
        recipes.append(make_recipe(trial, study, language.sources, language.held_out, language.tokenizer))
    folders = [storage.join(out, "models", trial.name) for trial in trials]
    inputs = inputs_of_recipes(recipes, runtime)
    return [
        TrialRun(trial.name, folder, PRETRAINING, {"recipe": recipe.to_dict()}, given)
        for trial, folder, recipe, given in zip(trials, folders, recipes, inputs, strict=True)
    ]


def _task_runs(trials: Sequence[FinetuningTrial], study: Study, out: str) -> list[TrialRun]:
    options = [_finetuning_options(trial, study, out) for trial in trials]
    folders = [storage.join(out, "tasks", trial.name) for trial in trials]
    return [
        TrialRun(trial.name, folder, FINETUNING, {"options": each.to_dict()}, given)
        for trial, folder, each, given in zip(trials, folders, options, inputs_of_runs(options), strict=True)
    ]


def _prepare_model(
    run: TrialRun, language: PreparedLanguage, out: str, runtime: Runtime, progress: StageProgress
) -> Trial:
    """Create the directory and the cipher vectors of a pre-training run."""
    recipe = Recipe.parse(run.options["recipe"])
    vectors = prepare_vectors(recipe, language.text, storage.join(out, "prepared"), runtime, progress)
    return run.prepare(partial(pretrain_trial, test=language.test), {"text": language.text, "vectors": vectors})


def _check_tasks(trials: Sequence[FinetuningTrial], study: Study, out: str) -> None:
    """Check the tasks of fine-tuning before pre-training, because fine-tuning can start days later."""
    waiting = [trial for trial in trials if not has_ended(storage.join(out, "tasks", trial.name))]
    for trial in {(trial.task, trial.filtered): trial for trial in waiting}.values():
        options = _finetuning_options(trial, study, out)
        task = read_task(options.task, options.data, options.vocabulary)
        if not task.train:
            raise BitcipherError(f"{options.data} has no training examples; add train.tsv, or leave {trial.task} out.")


def _finetuning_options(trial: FinetuningTrial, study: Study, out: str) -> FinetuneOptions:
    return make_trial_options(
        trial, study, storage.join(out, "models", trial.model), storage.join(out, "language", "vocabulary.txt")
    )


def _is_finished(folder: str) -> bool:
    """Return whether a model was trained until its last step."""
    path = storage.join(folder, ENDED)
    return storage.exists(path) and TrialEnd.read(path).diverged is None
