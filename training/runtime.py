"""Execution of training functions: in this process, or on workers of Ray Train."""

import os
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from bitcipher.errors import BitcipherError, first_line
from pipelines.runtime.ray_cluster import ray_cluster

# Maximum number of restarts after a worker has died. Each restart resumes from the latest checkpoint.
MAX_FAILURES = 10

Config = dict[str, Any]


def run_workers(function: Callable[[Config], None], config: Config, workers: int, device: str, notes: Path) -> None:
    """Call a function in this process if `workers` is 0, else on that many workers of Ray Train.

    Ray Train creates torch's process group first: NCCL between GPUs, Gloo between CPUs. If a worker dies, all workers
    are restarted, and the function is called again with the same config.

    Args:
        function: function of a module, so that workers can import it.
        config: plain values that it is called with.
        workers: number of workers.
        device: `cpu`; `cuda`, one GPU per worker; or `auto`: GPUs if the cluster has enough.
        notes: folder for Ray's own files, shared by all nodes; it is removed at the end.

    Raises:
        BitcipherError: if Ray cannot be reached, workers die too often, or the function raises one.
    """
    if workers == 0:
        function(config)
        return
    # Ray reads it when it is imported.
    os.environ.setdefault("RAY_TRAIN_V2_ENABLED", "1")
    with ray_cluster(num_cpus=max(workers, os.cpu_count() or 1)):
        import ray

        try:
            gpus = ray.cluster_resources().get("GPU", 0) >= workers if device == "auto" else device == "cuda"
            _fit(function, config, workers, gpus, notes)
        finally:
            shutil.rmtree(notes, ignore_errors=True)


def _fit(function: Callable[[Config], None], config: Config, workers: int, gpus: bool, notes: Path) -> None:
    from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
    from ray.train.torch import TorchTrainer

    error_file = notes / "error"
    trainer = TorchTrainer(
        _call_and_store_error,
        # By name, so that Ray's controller does not import what only workers need.
        train_loop_config={
            "function": [function.__module__, function.__name__],
            "config": config,
            "error_file": str(error_file),
        },
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=gpus),
        # The loop writes its own checkpoints, so Ray stores none.
        run_config=RunConfig(storage_path=str(notes), failure_config=FailureConfig(max_failures=MAX_FAILURES)),
    )
    try:
        trainer.fit()
    except TrainingFailedError as error:
        raise BitcipherError(
            f"Workers failed more than {MAX_FAILURES} times ({first_line(error)}); see Ray's logs for the cause."
        ) from None
    if error_file.exists():
        raise BitcipherError(error_file.read_text("utf-8"))


def _call_and_store_error(values: Config) -> None:
    """Call the function, and store a user error for the driver, because Ray would retry after an exception."""
    module, name = values["function"]
    try:
        getattr(import_module(module), name)(values["config"])
    except BitcipherError as error:
        Path(values["error_file"]).write_text(str(error), "utf-8")
