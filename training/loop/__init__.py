"""Training loop with exact resume, for any model, objective and number of workers."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.loop.checkpoint_folders import (
        METRICS,
        find_latest_checkpoint,
        latest_checkpoint,
        resolve_model_folder,
    )
    from training.loop.distributed import World, choose_device
    from training.loop.examples import Batch, Examples, TextExamples
    from training.loop.metrics_logger import read_metrics
    from training.loop.options import LoopOptions
    from training.loop.pair_examples import PairExamples
    from training.loop.run_lease import RUN_LEASE
    from training.loop.run_store import copying_run, opening_run
    from training.loop.sentence_examples import SentenceExamples
    from training.loop.training_run import TrainingRun, run_loop

__all__ = [
    "METRICS",
    "RUN_LEASE",
    "Batch",
    "Examples",
    "LoopOptions",
    "PairExamples",
    "SentenceExamples",
    "TextExamples",
    "TrainingRun",
    "World",
    "choose_device",
    "copying_run",
    "find_latest_checkpoint",
    "latest_checkpoint",
    "opening_run",
    "read_metrics",
    "resolve_model_folder",
    "run_loop",
]

__getattr__ = lazy_names(
    __name__,
    {
        "checkpoint_folders": ("METRICS", "find_latest_checkpoint", "latest_checkpoint", "resolve_model_folder"),
        "distributed": ("World", "choose_device"),
        "examples": ("Batch", "Examples", "TextExamples"),
        "metrics_logger": ("read_metrics",),
        "options": ("LoopOptions",),
        "pair_examples": ("PairExamples",),
        "run_lease": ("RUN_LEASE",),
        "run_store": ("copying_run", "opening_run"),
        "sentence_examples": ("SentenceExamples",),
        "training_run": ("TrainingRun", "run_loop"),
    },
)
