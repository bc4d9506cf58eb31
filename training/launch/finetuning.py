"""Launcher of a fine-tuning run."""

from bitcipher import storage
from pipelines.runtime.progress import StageProgress
from training.finetune.options import FinetuneOptions
from training.finetune.run_files import CONFIG, PREDICTIONS, TASK_INFO, Predictions, Scores, TaskInfo
from training.finetune.task_files import check_folder, find_tokenizer
from training.launch.run_dir import launch, leasing_run_dir, prepare_run_dir
from training.launch.run_result import RunResult, find_state, read_run_result


class FinetuningResult(RunResult):
    """Result of a fine-tuning run."""

    main_metric: str
    """Metric that the task is reported with."""
    scores: Scores
    """Scores of the model, in percent."""
    baselines: dict[str, Scores]
    """Scores of baselines that do not read the text."""


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
    options.loop.micro_batch_size_for(max(n_workers, 1))
    check_folder(options.data)
    find_tokenizer(options.model)
    from training.finetune import finetune  # not at the top: the import of torch takes seconds

    values = {"options": _with_absolute_paths(options).to_dict()}

    def max_steps() -> int:
        return TaskInfo.read(storage.join(folder, TASK_INFO)).max_steps

    with leasing_run_dir(folder, CONFIG):
        prepare_run_dir(folder, CONFIG, values)
        before = find_state(folder)
        launch(folder, CONFIG, finetune, values, max_steps, n_workers, options.loop.device, progress)
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


def _with_absolute_paths(options: FinetuneOptions) -> FinetuneOptions:
    """Return the options with absolute paths, because workers have other working directories."""
    vectors = options.embeddings.vectors
    return options.copy_with(
        model=storage.absolute(options.model),
        data=storage.absolute(options.data),
        vocabulary=options.vocabulary and storage.absolute(options.vocabulary),
        embeddings=options.embeddings.copy_with(vectors=vectors and storage.absolute(vectors)),
    )
