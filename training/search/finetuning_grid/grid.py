"""Stages of a grid: trials, results. Finished trials are not repeated."""

from bitcipher.files import json_files, storage
from pipelines.runtime.progress import StageProgress
from training.runs.launch.finetuning import check_finetuning, with_absolute_paths
from training.runs.launch.run_dir import leasing_run_dir
from training.search.finetuning_grid.options import GRID, GridOptions, make_trials
from training.search.finetuning_grid.results import GridResults, read_outcome, write_results
from training.search.trial_runs import finetune_trial
from training.search.trials import TRIALS, TrialResources, TrialRun, has_ended, run_stage
from training.tasks.finetuning.run_files import CONFIG
from training.tasks.finetuning.run_inputs import inputs_of_runs


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
    # All trials have the same model and data.
    check_finetuning(trials[0].options, 1, has_inputs=not all(map(has_ended, folders)))
    for trial in trials:
        trial.options.loop.micro_batch_size_for(1)
    with leasing_run_dir(out, GRID):
        inputs = inputs_of_runs(trial.options for trial in trials)
        runs = [
            TrialRun(trial.name, folder, CONFIG, {"options": trial.options.to_dict()}, given)
            for trial, folder, given in zip(trials, folders, inputs, strict=True)
        ]
        for run in runs:  # all of them before anything is written
            run.check(progress)
        json_files.write(storage.join(out, GRID), options.redacted().to_dict())
        run_stage([run.prepare(finetune_trial) for run in runs], "finetune", resources, out, progress)
        return write_results(options, trials, list(map(read_outcome, folders)), out)
