"""Stages of a search: text and vectors, trials, results. Finished trials are not repeated."""

from bitcipher import json_files, storage
from bitcipher.redaction import redact_values
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime, open_runtime
from training.launch.pretraining import with_tokenizer_of_checkpoint
from training.launch.run_dir import leasing_run_dir, prepare_run_dir
from training.launch.trial_executor import TrialResources, run_stage
from training.prepare import check_sources, prepare_examples, prepare_vectors
from training.run_files import CONFIG, ENDED
from training.runtime import Trial
from training.tune.options import TUNE, SearchOptions
from training.tune.results import TrialScore, write_results
from training.tune.trial_recipes import TuningTrial, make_trials

PREPARED, TRIALS = "prepared", "trials"
# By name, because the import of torch takes seconds.
_RUN_TRIAL = ("training.tune.trial_run", "run_trial")


def launch_search(options: SearchOptions, out: str, resources: TrialResources, progress: StageProgress) -> str:
    """Run or resume a search, and write its results, while this job holds the lease of the folder.

    The options of all trials are checked before the first trial runs.

    Args:
        options: options of the search.
        out: path or URI of the prepared text, all runs and the results, shared by all workers.
        resources: resources of the trials.
        progress: progress bars.

    Returns:
        The table of the trials, in Markdown.

    Raises:
        BitcipherError: if the folder holds trials with other options, an option is invalid, or all trials diverged.
    """
    recipe = with_tokenizer_of_checkpoint(options.recipe)
    options = options.copy_with(recipe=recipe)
    trials = make_trials(options)
    sources = check_sources(recipe)  # before a folder is made, because sources can be missing
    with leasing_run_dir(out, TUNE):
        json_files.write(storage.join(out, TUNE), options.redacted().to_dict())
        with open_runtime(resources.max_concurrent_trials) as runtime:
            text = prepare_examples(recipe, storage.join(out, PREPARED), runtime, progress)
            calls = [_prepare_trial(trial, options, text, sources, out, runtime, progress) for trial in trials]
        # The runtime is closed, so that its actors hold no CPU that the trials need.
        run_stage(calls, "tune", resources, out, progress)
        scores = [TrialScore.read(storage.join(call.config["folder"], ENDED)) for call in calls]
        return write_results(options, trials, scores, out)


def _prepare_trial(
    trial: TuningTrial,
    options: SearchOptions,
    text: str,
    sources: dict[str, str],
    out: str,
    runtime: Runtime,
    progress: StageProgress,
) -> Trial:
    """Create the folder and the vectors of a trial, and return the call that trains it."""
    folder, recipe = storage.join(out, TRIALS, trial.name), trial.recipe.to_dict()
    prepare_run_dir(folder, CONFIG, {"recipe": recipe})
    vectors = prepare_vectors(trial.recipe, text, storage.join(out, PREPARED), runtime, progress)
    config = {"recipe": recipe, "text": text, "vectors": vectors, "folder": folder, "sources": sources}
    json_files.write(storage.join(folder, CONFIG), redact_values(config))
    return Trial(trial.name, _RUN_TRIAL, {**config, "base": options.recipe.to_dict()})
