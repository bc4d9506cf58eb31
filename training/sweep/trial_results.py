"""What the runs of a study's trials wrote, as records."""

from pathlib import Path

from training.finetune import PREDICTIONS, TASK_INFO, TaskInfo
from training.loop import read_metrics
from training.sweep.findings import Evaluation, PretrainedModel, Score
from training.sweep.trial_runs import ENDED, TrialEnd
from training.sweep.trials import FinetuningTrial, PretrainingTrial


def read_model(trial: PretrainingTrial, folder: Path, vocabulary: int, batch: int) -> PretrainedModel | None:
    """How a pre-training went so far; None if it was not begun.

    Args:
        trial: which one.
        folder: of its run.
        vocabulary: tokens of its tokenizer.
        batch: sequences of a step.
    """
    lines = [line for line in read_metrics(folder) if "validation_loss" in line]
    if not lines:
        return None
    ended = TrialEnd.read(str(folder / ENDED)) if (folder / ENDED).exists() else TrialEnd()
    return PretrainedModel(
        name=trial.name,
        shape=trial.shape,
        init=trial.init,
        language=trial.language,
        vocabulary=vocabulary,
        evaluations=tuple(Evaluation(line["step"], line["step"] * batch, line["validation_loss"]) for line in lines),
        test_loss=ended.test_loss,
        stopped=ended.stopped,
    )


def read_score(trial: FinetuningTrial, folder: Path) -> Score | None:
    """How a fine-tuned model did; None if it has not ended."""
    values, stopped = [], None
    if (folder / PREDICTIONS).exists():
        figure = TaskInfo.read(str(folder / TASK_INFO)).main_metric
        values = [line[figure] for line in read_metrics(folder) if figure in line and line["step"] > 0]
    elif (folder / ENDED).exists():
        stopped = TrialEnd.read(str(folder / ENDED)).stopped
    else:
        return None
    return Score(
        model=trial.model,
        task=trial.task,
        filtered=trial.filtered,
        random_init=trial.random_init,
        seed=trial.seed,
        best=max(values) if values else None,
        last=values[-1] if values else None,
        stopped=stopped,
    )
