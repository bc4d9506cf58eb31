"""Fine-tuning of pre-trained models on tasks; see README.md."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.finetune.finetuning_run import finetune
    from training.finetune.options import FinetuneOptions, make_finetune_options
    from training.finetune.run_files import CONFIG, PREDICTIONS, TASK_INFO, Predictions, TaskInfo
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

__getattr__ = lazy_names(
    __name__,
    {
        "finetuning_run": ("finetune",),
        "run_files": ("CONFIG", "PREDICTIONS", "TASK_INFO", "Predictions", "TaskInfo"),
        "options": ("FinetuneOptions", "make_finetune_options"),
        "task_files": ("GLUE", "TASKS"),
    },
)
