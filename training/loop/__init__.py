"""One plain loop for everything that is trained: exact over restarts, and over any number of workers."""

from training.loop.checkpoints import checkpoint_of, model_folder, newest_checkpoint
from training.loop.distributed import World
from training.loop.examples import Batch, Examples, TextExamples
from training.loop.metrics_logger import METRICS, read_metrics
from training.loop.options import LoopOptions
from training.loop.training_run import TrainingRun, run_loop

__all__ = [
    "METRICS",
    "Batch",
    "Examples",
    "LoopOptions",
    "TextExamples",
    "TrainingRun",
    "World",
    "checkpoint_of",
    "model_folder",
    "newest_checkpoint",
    "read_metrics",
    "run_loop",
]
