"""Reader of the results of trials from the directories of their runs."""

from dataclasses import replace

from bitcipher.files import storage
from training.loop.file_names import ENDED
from training.loop.options import LoopOptions
from training.search.trial_runs import TrialEnd
from training.studies.downscaling.sweep.findings import Evaluation, PretrainedModel, Score
from training.studies.downscaling.sweep.trial_runs import read_run_metrics
from training.studies.downscaling.sweep.trials import FinetuningTrial, PretrainingTrial, name_checkpoint
from training.tasks.finetuning.run_files import PREDICTIONS, TASK_INFO, TaskInfo


def read_model(trial: PretrainingTrial, folder: str, vocabulary: int, loop: LoopOptions) -> PretrainedModel | None:
    """Return the losses of a pre-training run during and after training, or None if it has no evaluation yet.

    Args:
        trial: pre-training trial.
        folder: path or URI of the trial's run.
        vocabulary: number of tokens of the model's tokenizer.
        loop: options of the loop, with the batch sizes.
    """
    lines = [line for line in read_run_metrics(folder) if "validation_loss" in line]
    if not lines:
        return None
    end = storage.join(folder, ENDED)
    ended = TrialEnd.read(end) if storage.exists(end) else TrialEnd()
    return PretrainedModel(
        name=trial.name,
        shape=trial.shape,
        init=trial.init,
        language=trial.language,
        vocabulary=vocabulary,
        evaluations=tuple(
            Evaluation(line["step"], loop.count_sequences(line["step"]), line["validation_loss"]) for line in lines
        ),
        test_loss=ended.validation_loss,
        stopped=ended.diverged,
    )


def at_step(model: PretrainedModel, step: int) -> PretrainedModel:
    """Return a model as it was after a step."""
    evaluations = tuple(each for each in model.evaluations if each.step <= step)
    return replace(model, name=name_checkpoint(model.name, step), evaluations=evaluations, test_loss=None)


def read_score(trial: FinetuningTrial, folder: str) -> Score | None:
    """Return the best and last scores of a fine-tuning run, or None if it has not finished."""
    values, stopped = [], None
    if storage.exists(storage.join(folder, PREDICTIONS)):
        metric = TaskInfo.read(storage.join(folder, TASK_INFO)).main_metric
        values = [line[metric] for line in read_run_metrics(folder) if metric in line and line["step"] > 0]
    elif storage.exists(storage.join(folder, ENDED)):
        stopped = TrialEnd.read(storage.join(folder, ENDED)).diverged
    else:
        return None
    return Score(
        model=trial.checkpoint,
        task=trial.task,
        filtered=trial.filtered,
        random_init=trial.random_init,
        seed=trial.seed,
        best=max(values) if values else None,
        last=values[-1] if values else None,
        stopped=stopped,
    )
