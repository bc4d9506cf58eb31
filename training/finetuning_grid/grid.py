"""Stages of a grid: trials, results. Finished trials are not repeated."""

from bitcipher import json_files, storage
from bitcipher.redaction import redact_values
from pipelines.runtime.progress import StageProgress
from training.finetuning.run_files import CONFIG
from training.finetuning_grid.options import GRID, GridOptions, GridTrial, make_trials
from training.finetuning_grid.results import GridResults, read_outcome, write_results
from training.launch.finetuning import check_finetuning, with_absolute_paths
from training.launch.run_dir import leasing_run_dir, prepare_run_dir
from training.launch.trial_executor import TrialResources, run_stage
from training.runtime import Trial

TRIALS = "trials"
# By name, because the import of torch takes seconds.
_RUN_TRIAL = ("training.finetuning_grid.trial_run", "run_trial")


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
    check_finetuning(trials[0].options, 1)  # all trials have the same model and data
    for trial in trials:
        trial.options.loop.micro_batch_size_for(1)
    with leasing_run_dir(out, GRID):
        json_files.write(storage.join(out, GRID), options.redacted().to_dict())
        calls = [_prepare_trial(trial, out) for trial in trials]
        run_stage(calls, "finetune", resources, out, progress)
        return write_results(options, trials, [read_outcome(call.config["folder"]) for call in calls], out)


def _prepare_trial(trial: GridTrial, out: str) -> Trial:
    """Create the folder of a trial, and return the call that fine-tunes it."""
    folder, values = storage.join(out, TRIALS, trial.name), {"options": trial.options.to_dict()}
    prepare_run_dir(folder, CONFIG, values)
    config = {**values, "folder": folder}
    json_files.write(storage.join(folder, CONFIG), redact_values(config))
    return Trial(trial.name, _RUN_TRIAL, config)
