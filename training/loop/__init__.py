"""One plain loop for everything that is trained: exact over restarts, and over any number of workers."""

from training.loop.checkpoints import checkpoint_of, model_folder, newest_checkpoint
from training.loop.examples import Batch, Examples, TextExamples
from training.loop.journal import METRICS, read_metrics
from training.loop.options import LoopOptions
from training.loop.run import Job, run_loop
from training.loop.world import World

__all__ = [
    "METRICS",
    "Batch",
    "Examples",
    "Job",
    "LoopOptions",
    "TextExamples",
    "World",
    "checkpoint_of",
    "model_folder",
    "newest_checkpoint",
    "read_metrics",
    "run_loop",
]
