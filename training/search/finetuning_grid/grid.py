"""Stages of a grid: trials, results. Finished trials are not repeated."""

from bitcipher.files import json_files, storage
from pipelines.runtime.progress import StageProgress
from training.runs.launch.finetuning import check_finetuning, with_absolute_paths
from training.runs.launch.run_dir import check_run, leasing_run_dir, prepare_run_dir
from training.search.finetuning_grid.options import GRID, GridOptions, make_trials
from training.search.finetuning_grid.results import GridResults, read_outcome, write_results
from training.search.trial_executor import TrialResources, has_ended, run_stage
from training.search.trials import Trial
from training.tasks.finetuning.run_files import CONFIG
from training.tasks.finetuning.run_inputs import inputs_of_runs

TRIALS = "trials"
# By name, because the import of torch takes seconds.
_RUN_TRIAL = ("training.search.finetuning_grid.trial_run", "run_trial")


def launch_grid(options: GridOptions, out: str, resources: TrialResources, progress: StageProgress) -> GridResults:
    """Run or resume a grid, and write its results, while this job holds the lease of the folder.

    The options of all trials are checked before the first trial runs.

    Args:
        options: options of the grid.
        out: path or URI of all runs and the results, shared by all workers.
        resources: resources of the trials.
        progress: progress bars.

    Raises:
        BitcipherError: if the folder holds trials with other options, an option is invalid, a file is missing, or all
            trials diverged.
    """
    options = options.copy_with(finetuning=with_absolute_paths(options.finetuning))
    trials = make_trials(options)
    folders = [storage.join(out, TRIALS, trial.name) for trial in trials]
    is_finished = all(map(has_ended, folders))
    check_finetuning(trials[0].options, 1, has_inputs=not is_finished)  # all trials have the same model and data
    for trial in trials:
        trial.options.loop.micro_batch_size_for(1)
    with leasing_run_dir(out, GRID):
        inputs = inputs_of_runs(trial.options for trial in trials)
        configs = [{"options": trial.options.to_dict()} for trial in trials]
        prepared = list(zip(folders, configs, inputs, strict=True))
        for folder, config, given in prepared:  # all of them before anything is written
            check_run(folder, CONFIG, config, given, progress, is_finished=has_ended(folder))
        json_files.write(storage.join(out, GRID), options.redacted().to_dict())
        calls = [
            Trial(trial.name, _RUN_TRIAL, prepare_run_dir(folder, CONFIG, {**config, "folder": folder}, given))
            for trial, (folder, config, given) in zip(trials, prepared, strict=True)
        ]
        run_stage(calls, "finetune", resources, out, progress)
        return write_results(options, trials, list(map(read_outcome, folders)), out)
