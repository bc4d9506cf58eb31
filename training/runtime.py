"""Where a run's workers are: in this process, or on Ray Train. The only module of `training` that imports Ray."""

import os
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from bitcipher.errors import BitcipherError, first_line

# How often a run begins again after a worker has died: each time it goes on from its newest checkpoint.
MAX_FAILURES = 10

Config = dict[str, Any]


def run_workers(function: Callable[[Config], None], config: Config, workers: int, device: str, notes: Path) -> None:
    """Call a function once in this process (0 workers), or at the same time on so many workers of Ray Train.

    On workers, torch's process group is made before: NCCL between GPUs, Gloo between CPUs. If a worker dies, all are
    started again, and the function is called again with the same config.

    Args:
        function: of a module, so that workers can import it.
        config: what JSON can hold.
        workers: how many; 0 for none.
        device: cpu; cuda, a GPU for each; or auto, the same if the cluster has so many.
        notes: a folder of one's own for the notes that Ray takes, which all nodes see; it is removed in the end.

    Raises:
        BitcipherError: if Ray cannot be reached, if workers die too often, or for a mistake that the function tells.
    """
    if workers == 0:
        function(config)
        return
    # Ray reads these when it is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_TRAIN_V2_ENABLED", "1")
    import ray

    started_here = not ray.is_initialized()
    if started_here:
        address = os.environ.get("RAY_ADDRESS", "local")
        here = {"num_cpus": max(workers, os.cpu_count() or 1), "include_dashboard": False} if address == "local" else {}
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **here)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise BitcipherError(f"Cannot reach Ray at {address} ({error}): check RAY_ADDRESS.") from None
    try:
        gpus = ray.cluster_resources().get("GPU", 0) >= workers if device == "auto" else device == "cuda"
        _fit(function, config, workers, gpus, notes)
    finally:
        shutil.rmtree(notes, ignore_errors=True)
        if started_here:
            ray.shutdown()


def _fit(function: Callable[[Config], None], config: Config, workers: int, gpus: bool, notes: Path) -> None:
    from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
    from ray.train.torch import TorchTrainer

    mistake = notes / "mistake"
    trainer = TorchTrainer(
        _tell_mistakes,
        # By its name, so that Ray's controller need not import what only workers need.
        train_loop_config={
            "function": [function.__module__, function.__name__],
            "config": config,
            "mistake": str(mistake),
        },
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=gpus),
        # Checkpoints are the run's own, and not Ray's.
        run_config=RunConfig(storage_path=str(notes), failure_config=FailureConfig(max_failures=MAX_FAILURES)),
    )
    try:
        trainer.fit()
    except TrainingFailedError as error:
        raise BitcipherError(
            f"Workers failed more than {MAX_FAILURES} times ({first_line(error)}): look for the cause in Ray's logs."
        ) from None
    if mistake.exists():
        raise BitcipherError(mistake.read_text("utf-8"))


def _tell_mistakes(given: Config) -> None:
    """A user's mistake is told in the driver's own words, and not tried again."""
    module, name = given["function"]
    try:
        getattr(import_module(module), name)(given["config"])
    except BitcipherError as error:
        Path(given["mistake"]).write_text(str(error), "utf-8")
