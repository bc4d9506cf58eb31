"""Stages of a search: text and vectors, trials, results. Finished trials are not repeated."""

from functools import partial

from bitcipher.files import json_files, storage
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from training.loop.file_names import CONFIG, ENDED
from training.runs.launch.pretraining import check_inputs, with_tokenizer_of_checkpoint
from training.runs.launch.run_dir import leasing_run_dir
from training.runs.prepare.examples import check_sources, prepare_examples
from training.runs.prepare.recipe_inputs import inputs_of_recipes
from training.runs.prepare.vectors import prepare_vectors
from training.search.trial_runs import TrialEnd, pretrain_trial
from training.search.trials import TRIALS, TrialResources, TrialRun, has_ended, run_stage
from training.search.tune.options import TUNE, SearchOptions
from training.search.tune.results import write_results
from training.search.tune.trial_recipes import make_trials

PREPARED = "prepared"


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
            runs = [
                TrialRun(trial.name, folder, CONFIG, {"recipe": trial.recipe.to_dict()}, given)
                for trial, folder, given in zip(trials, folders, inputs, strict=True)
            ]
            for run in runs:  # all of them before anything is written
                run.check(progress)
            json_files.write(storage.join(out, TUNE), options.redacted().to_dict())
            ready = []
            if not is_finished:
                known, target = inputs[0].sources, storage.join(out, PREPARED)
                text = prepare_examples(recipe, target, runtime, progress, known)
                # With the objective of the trial, a lower masking share would give a lower loss, because fewer masked
                # tokens are easier to predict.
                train = partial(pretrain_trial, scored_recipe=recipe, scored_text=text, keeps_checkpoints=False)
                shared = {"text": text, "sources": check_sources(recipe)}
                for run, trial in zip(runs, trials, strict=True):
                    vectors = prepare_vectors(trial.recipe, text, target, runtime, progress)
                    ready.append(run.prepare(train, {**shared, "vectors": vectors}))
        # The runtime is closed, so that its actors hold no CPU that the trials need.
        run_stage(ready, "tune", resources, out, progress)
        return write_results(options, trials, [TrialEnd.read(storage.join(each, ENDED)) for each in folders], out)
