"""Stages of a search: text and vectors, trials, results. Finished trials are not repeated."""

from bitcipher.files import json_files, storage
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from training.loop.file_names import CONFIG, ENDED
from training.runs.launch.pretraining import check_inputs, with_tokenizer_of_checkpoint
from training.runs.launch.run_dir import check_run, leasing_run_dir, prepare_run_dir
from training.runs.prepare.examples import check_sources, prepare_examples
from training.runs.prepare.recipe_inputs import inputs_of_recipes
from training.runs.prepare.vectors import prepare_vectors
from training.search.trial_executor import TrialResources, has_ended, run_stage
from training.search.trials import Trial
from training.search.tune.options import TUNE, SearchOptions
from training.search.tune.results import TrialScore, write_results
from training.search.tune.trial_recipes import make_trials

PREPARED, TRIALS = "prepared", "trials"
# By name, because the import of torch takes seconds.
_RUN_TRIAL = ("training.search.tune.trial_run", "run_trial")


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
    folders = [storage.join(out, TRIALS, trial.name) for trial in trials]
    is_finished = all(map(has_ended, folders))
    if not is_finished:
        check_inputs(recipe, out)  # before a folder is made, because files can be missing
    with leasing_run_dir(out, TUNE):
        with open_runtime(resources.max_concurrent_trials) as runtime:
            inputs = inputs_of_recipes((trial.recipe for trial in trials), runtime)
            configs = [{"recipe": trial.recipe.to_dict()} for trial in trials]
            prepared = list(zip(trials, folders, configs, inputs, strict=True))
            for _, folder, config, given in prepared:  # all of them before anything is written
                check_run(folder, CONFIG, config, given, progress, is_finished=has_ended(folder))
            json_files.write(storage.join(out, TUNE), options.redacted().to_dict())
            calls = []
            if not is_finished:
                known, target = inputs[0].sources, storage.join(out, PREPARED)
                text = prepare_examples(recipe, target, runtime, progress, known)
                shared = {"text": text, "sources": check_sources(recipe)}
                for trial, folder, config, given in prepared:
                    vectors = prepare_vectors(trial.recipe, text, target, runtime, progress)
                    config |= {**shared, "vectors": vectors, "folder": folder}
                    config = prepare_run_dir(folder, CONFIG, config, given)
                    calls.append(Trial(trial.name, _RUN_TRIAL, {**config, "base": recipe.to_dict()}))
        # The runtime is closed, so that its actors hold no CPU that the trials need.
        run_stage(calls, "tune", resources, out, progress)
        scores = [TrialScore.read(storage.join(folder, ENDED)) for folder in folders]
        return write_results(options, trials, scores, out)
