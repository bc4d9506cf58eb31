"""Files of a fine-tuning run. This module is imported to check options, so it does not import torch."""

from typing import Any

from pydantic import Field

from bitcipher.files.records import Record, Strings
from pipelines.store.recorded_inputs import RecordedInputs
from training.tasks.finetuning.options import FinetuneOptions

CONFIG = "finetune.json"
TASK_INFO = "task.json"
PREDICTIONS = "predictions.json"

Scores = dict[str, float]


class FinetuningConfig(Record):
    """Inputs of a fine-tuning run; stored as `finetune.json` in its folder."""

    options: FinetuneOptions
    folder: str
    """Folder of the run."""
    inputs: RecordedInputs | None = None
    """Files that the run was made from; None if it was made before they were recorded."""


class TaskInfo(Record):
    """Properties of the task of a run; stored as `task.json`."""

    task: str
    """Name of the task."""
    main_metric: str
    """Metric that the task is reported with."""
    labels: Strings
    """Labels in the order of their ids."""
    rows: dict[str, int]
    """Number of rows of each split."""
    max_steps: int
    """Number of updates."""
    new_weights: Strings
    """Names of the weights that the pre-trained model does not have."""
    remarks: Strings
    """Sentences for the user, such as the reason for a new weight."""


class Predictions(Record):
    """Result of a run; stored as `predictions.json`."""

    scores: Scores
    """Scores of the model of the run, in percent: with early stopping of the best step, else of the last one."""
    baselines: dict[str, Scores]
    """Scores of baselines that are not trained."""
    predictions: list[dict[str, Any]] = Field(repr=False)
    """Predictions with their examples."""
