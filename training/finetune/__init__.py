"""Fine-tuning of pre-trained models on tasks; see README.md."""

from training.finetune.finetune import CONFIG, PREDICTIONS, TASK_INFO, Predictions, TaskInfo, finetune
from training.finetune.options import FinetuneOptions, make_finetune_options
from training.finetune.task_files import GLUE, TASKS

__all__ = [
    "CONFIG",
    "GLUE",
    "PREDICTIONS",
    "TASKS",
    "TASK_INFO",
    "FinetuneOptions",
    "Predictions",
    "TaskInfo",
    "finetune",
    "make_finetune_options",
]
