"""What the runs of a study's trials wrote, as records."""

import json
from pathlib import Path

from training.finetune import NOTES, PREDICTIONS
from training.loop import read_metrics
from training.sweep.findings import Evaluation, PretrainedModel, Score
from training.sweep.trial_runs import ENDED
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
    ended = json.loads((folder / ENDED).read_text("utf-8")) if (folder / ENDED).exists() else {}
    return PretrainedModel(
        name=trial.name,
        shape=trial.shape,
        start=trial.start,
        language=trial.language,
        vocabulary=vocabulary,
        evaluations=tuple(Evaluation(line["step"], line["step"] * batch, line["validation_loss"]) for line in lines),
        test_loss=ended.get("test_loss"),
        stopped=ended.get("stopped"),
    )


def read_score(trial: FinetuningTrial, folder: Path) -> Score | None:
    """How a fine-tuned model did; None if it has not ended."""
    values, stopped = [], None
    if (folder / PREDICTIONS).exists():
        figure = json.loads((folder / NOTES).read_text("utf-8"))["main_figure"]
        values = [line[figure] for line in read_metrics(folder) if figure in line and line["step"] > 0]
    elif (folder / ENDED).exists():
        stopped = json.loads((folder / ENDED).read_text("utf-8"))["stopped"]
    else:
        return None
    return Score(
        model=trial.model,
        task=trial.task,
        filtered=trial.filtered,
        random=trial.random,
        seed=trial.seed,
        best=max(values) if values else None,
        last=values[-1] if values else None,
        stopped=stopped,
    )
