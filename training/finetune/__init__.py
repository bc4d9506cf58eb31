"""Fine-tuning: from a pre-trained model to one for a task, and how good it is; see README.md."""

from training.finetune.finetune import CONFIG, NOTES, PREDICTIONS, finetune
from training.finetune.options import FinetuneOptions, make_options
from training.finetune.task_files import GLUE, TASKS

__all__ = ["CONFIG", "GLUE", "NOTES", "PREDICTIONS", "TASKS", "FinetuneOptions", "finetune", "make_options"]
