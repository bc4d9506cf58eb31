"""Fine-tuning of pre-trained models on tasks; see README.md."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.finetuning.finetuning_run import run_finetuning
    from training.finetuning.options import FinetuneOptions, make_finetune_options
    from training.finetuning.run_files import CONFIG, PREDICTIONS, TASK_INFO, Predictions, TaskInfo
    from training.finetuning.task_files import GLUE, TASKS, glue_folder

__all__ = [
    "CONFIG",
    "GLUE",
    "PREDICTIONS",
    "TASKS",
    "TASK_INFO",
    "FinetuneOptions",
    "Predictions",
    "TaskInfo",
    "glue_folder",
    "make_finetune_options",
    "run_finetuning",
]

__getattr__ = lazy_names(
    __name__,
    {
        "finetuning_run": ("run_finetuning",),
        "run_files": ("CONFIG", "PREDICTIONS", "TASK_INFO", "Predictions", "TaskInfo"),
        "options": ("FinetuneOptions", "make_finetune_options"),
        "task_files": ("GLUE", "TASKS", "glue_folder"),
    },
)
