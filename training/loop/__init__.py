"""Training loop with exact resume, for any model, objective and number of workers."""

from training.loop.checkpoints import find_latest_checkpoint, latest_checkpoint, resolve_model_folder
from training.loop.distributed import World
from training.loop.examples import Batch, Examples, TextExamples
from training.loop.metrics_logger import METRICS, read_metrics
from training.loop.options import LoopOptions
from training.loop.run_lease import RUN_LEASE
from training.loop.training_run import TrainingRun, run_loop

__all__ = [
    "METRICS",
    "RUN_LEASE",
    "Batch",
    "Examples",
    "LoopOptions",
    "TextExamples",
    "TrainingRun",
    "World",
    "find_latest_checkpoint",
    "latest_checkpoint",
    "read_metrics",
    "resolve_model_folder",
    "run_loop",
]
