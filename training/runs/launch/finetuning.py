"""Fine-tuning of a model on a task."""

import os
from collections.abc import Sequence
from typing import Any

from bitcipher.files import storage
from pipelines.runtime.progress import StageProgress
from training.loop.trackers.open_trackers import check_trackers
from training.runs.launch.run_dir import check_run, launch, leasing_run_dir, prepare_run_dir
from training.runs.launch.run_result import RunResult, find_state, read_run_result
from training.tasks.finetuning.options import FinetuneOptions, make_finetune_options
from training.tasks.finetuning.run_files import CONFIG, PREDICTIONS, TASK_INFO, Predictions, Scores, TaskInfo
from training.tasks.finetuning.run_inputs import finetuning_inputs
from training.tasks.finetuning.task_files import check_folder, find_tokenizer


class FinetuningResult(RunResult):
    """Result of a fine-tuning run."""

    main_metric: str
    """Metric that the task is reported with."""
    scores: Scores
    """Scores of the model, in percent."""
    baselines: dict[str, Scores]
    """Scores of baselines that are not trained."""


def finetune(
    model: str | os.PathLike[str],
    task: str,
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    settings: Sequence[str] = (),
    vocabulary: str | os.PathLike[str] | None = None,
    random_init: bool = False,
    seed: int = 1,
    workers: int = 0,
) -> FinetuningResult:
    """Fine-tune a pre-trained model on a task, as `bitcipher finetune` does. Call it again to resume.

    Args:
        model: path or URI of a run, or of a transformers model with a tokenizer.json.
        task: name of the task: one of `training.tasks.finetuning.task_files.TASKS`.
        data: path or URI of the folder of the task's files.
        out: path or URI of the folder of the run, which all workers share.
        settings: changes of options, such as "loop.learning_rate=3e-5"; values are YAML.
        vocabulary: file of words, for GLUE only: examples with other words are not used.
        random_init: start from random weights, as a baseline without pre-training.
        seed: seed of the head, the order of the examples and dropout.
        workers: number of Ray workers; 0 trains in this process.

    Returns:
        Folder, model, metrics and scores of the run.

    Raises:
        BitcipherError: if an option is invalid, a file is missing, the folder holds a run with other options, another
            job is running in it, or the loss is not finite.
    """
    values: dict[str, Any] = {"model": os.fspath(model), "task": task, "data": os.fspath(data)}
    values |= {"vocabulary": vocabulary and os.fspath(vocabulary), "random_init": random_init, "seed": seed}
    options = make_finetune_options(values, settings)
    with StageProgress() as progress:
        return launch_finetuning(options, storage.absolute(os.fspath(out)), workers, progress)


def launch_finetuning(
    options: FinetuneOptions, folder: str, n_workers: int, progress: StageProgress
) -> FinetuningResult:
    """Fine-tune a model, or resume an interrupted run.

    Args:
        options: options of the run.
        folder: path or URI of the run, which all workers share.
        n_workers: number of Ray workers; 0 trains in this process.
        progress: progress bars.

    Raises:
        BitcipherError: if the folder holds a run with other options, another job is running in it, or the options are
            invalid.
    """
    is_finished = storage.exists(storage.join(folder, PREDICTIONS))
    check_finetuning(options, n_workers, has_inputs=not is_finished)
    options = with_absolute_paths(options)
    inputs, values = finetuning_inputs(options), {"options": options.to_dict()}

    def max_steps() -> int:
        return TaskInfo.read(storage.join(folder, TASK_INFO)).max_steps

    with leasing_run_dir(folder, CONFIG):
        before = find_state(folder)
        state = check_run(folder, CONFIG, values, inputs, progress, is_finished=is_finished)
        if state != "inputs gone":
            # Not at the top: the import of torch takes seconds
            from training.tasks.finetuning.finetuning_run import run_finetuning

            values = prepare_run_dir(folder, CONFIG, values, inputs)
            launch(folder, CONFIG, run_finetuning, values, max_steps, n_workers, options.loop.device, progress)
    info, result = TaskInfo.read(storage.join(folder, TASK_INFO)), Predictions.read(storage.join(folder, PREDICTIONS))
    run = read_run_result(folder, options.loop, before)
    return FinetuningResult(
        folder=run.folder,
        checkpoint=run.checkpoint,
        metrics=run.metrics,
        stopped_early=run.stopped_early,
        remarks=(*info.remarks, *run.remarks),
        main_metric=info.main_metric,
        scores=result.scores,
        baselines=result.baselines,
    )


def check_finetuning(options: FinetuneOptions, n_workers: int, *, has_inputs: bool = True) -> None:
    """Check the options of a run and its inputs before libraries are loaded.

    Args:
        options: options of the run.
        n_workers: number of Ray workers.
        has_inputs: whether the inputs must exist.

    Raises:
        BitcipherError: if a batch cannot be divided among the workers, a tracker is not installed, the folder of the
            task does not exist, or the model has no tokenizer.
    """
    options.loop.micro_batch_size_for(max(n_workers, 1))
    check_trackers(options.loop.report_to)
    if has_inputs:
        check_folder(options.data)
        find_tokenizer(options.model)


def with_absolute_paths(options: FinetuneOptions) -> FinetuneOptions:
    """Return the options with absolute paths, because workers have other working directories."""
    vectors = options.embeddings.vectors
    return options.copy_with(
        model=storage.absolute(options.model),
        data=storage.absolute(options.data),
        vocabulary=options.vocabulary and storage.absolute(options.vocabulary),
        embeddings=options.embeddings.copy_with(vectors=vectors and storage.absolute(vectors)),
    )
