"""Training on workers of Ray Train, and restarts after failures."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

from bitcipher.errors import BitcipherError, first_line
from bitcipher.files import storage
from pipelines.runtime.ray_cluster import ray_cluster
from training.runs.calls import Config, describe_failure, writing_stop_file
from training.runs.ray_storage import ray_storage

# Maximum number of successive attempts without a new checkpoint whose workers died. After any progress, they are
# counted anew. An exception of the training function would be raised again, so it ends a run at once.
MAX_STALLED_ATTEMPTS = 3
# Time in which Ray notices that a worker has died.
_NOTICE_SECONDS = 10.0


@dataclass(frozen=True)
class _Failure:
    """Why an attempt failed."""

    cause: str
    is_worker_lost: bool
    """Whether a worker died, in contrast to an exception of the function."""


def run_workers(
    function: Callable[[Config], None],
    config: Config,
    workers: int,
    device: str,
    ray_folder: str,
    stop_file: str,
    count_steps: Callable[[], int],
) -> None:
    """Call a function in this process if `workers` is 0, else on that many workers of Ray Train.

    Ray Train creates torch's process group first: NCCL between GPUs, Gloo between CPUs. If a worker fails, all workers
    are restarted, and the function is called again with the same config, as long as each attempt makes progress.

    Args:
        function: function of a module, so that workers can import it.
        config: argument of the function: values that JSON can represent.
        workers: number of Ray workers; 0 calls the function in this process.
        device: `cpu`, `cuda` (one GPU per worker), or `auto` (`cuda` if the cluster has enough GPUs, else `cpu`).
        ray_folder: path or URI of a folder for Ray's own files, shared by all nodes; it is removed at the end.
        stop_file: file that asks the function to save a checkpoint and stop; it is written on SIGTERM.
        count_steps: function that returns the number of steps up to the latest checkpoint.

    Raises:
        BitcipherError: if Ray cannot be reached, an attempt fails without progress, or the function raises a
            BitcipherError.
        SystemExit: after SIGTERM.
    """
    if workers == 0:
        function(config)
        return
    # Ray reads this variable when it is imported.
    os.environ.setdefault("RAY_TRAIN_V2_ENABLED", "1")
    with ray_cluster(num_cpus=max(workers, os.cpu_count() or 1)), writing_stop_file(stop_file):
        import ray

        n_gpus = ray.cluster_resources().get("GPU", 0)
        # Without enough GPUs, Ray Train would wait forever. On a cluster that already runs, GPU nodes can be added.
        if device == "cuda" and "RAY_ADDRESS" not in os.environ and n_gpus < workers:
            raise BitcipherError(
                f"{workers} workers need a GPU each, but Ray found {n_gpus:g} on this machine; set `loop.device` to "
                "auto, or reduce --workers."
            )
        use_gpu = n_gpus >= workers if device == "auto" else device == "cuda"
        try:
            _train(function, config, workers, use_gpu, ray_folder, stop_file, count_steps)
        finally:
            storage.remove(ray_folder)


def _train(
    function: Callable[[Config], None],
    config: Config,
    workers: int,
    use_gpu: bool,
    ray_folder: str,
    stop_file: str,
    count_steps: Callable[[], int],
) -> None:
    attempt, stalled, steps = 0, 0, count_steps()
    # The function is given by name, so that Ray's controller does not import its module.
    values = {"function": [function.__module__, function.__name__], "config": config}
    while failure := _attempt(values, workers, use_gpu, ray_folder, storage.join(ray_folder, f"error-{attempt}.json")):
        if storage.exists(stop_file):
            return
        before, steps = steps, count_steps()
        stalled = 0 if steps > before else stalled + 1
        if stalled == (MAX_STALLED_ATTEMPTS if failure.is_worker_lost else 1):
            times = f"{stalled} times in a row" if stalled > 1 else "once"
            raise BitcipherError(
                f"The workers failed {times} without a new checkpoint after step {steps:,} ({failure.cause}). Ray's "
                "logs have the details; run the same command again to resume."
            )
        attempt += 1


def _attempt(values: Config, workers: int, use_gpu: bool, ray_folder: str, error_file: str) -> _Failure | None:
    """Train once, without restarts. Return why it failed, or None if it has ended.

    Raises:
        BitcipherError: if the function raises it.
    """
    from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
    from ray.train.torch import TorchTrainer

    trainer = TorchTrainer(
        _call_on_worker,
        train_loop_config={**values, "error_file": error_file},
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=use_gpu),
        # The loop writes its own checkpoints, so Ray stores none. Restarts by Ray would repeat mistakes.
        run_config=RunConfig(**ray_storage(ray_folder), failure_config=FailureConfig(max_failures=0)),
    )
    groups = _placement_groups()
    try:
        trainer.fit()
    except TrainingFailedError as error:
        _remove_placement_groups(_placement_groups() - groups)
        failures: dict[int, Exception] = getattr(error, "worker_failures", {})
        lost = next((each for each in failures.values() if type(each).__module__.startswith("ray.")), None)
        stored: dict[str, Any] = json.loads(storage.read_bytes(error_file) or b"{}")
        kind = stored.get("kind")
        if kind == "user error":
            raise BitcipherError(stored["message"]) from None
        if lost is not None or kind is None:
            return _Failure(_cause_of(lost or error), is_worker_lost=True)
        return _Failure(stored["message"], is_worker_lost=kind == "lost connection")
    return None


def _placement_groups() -> set[str]:
    """Return the ids of the placement groups of this job, which hold CPUs and GPUs."""
    import ray
    from ray.util import placement_group_table

    job: str = ray.get_runtime_context().get_job_id()
    table: dict[str, Any] = placement_group_table()
    # The id of a group ends with that of its job.
    return {each for each, group in table.items() if each.endswith(job) and group["state"] != "REMOVED"}


def _remove_placement_groups(ids: set[str]) -> None:
    """Free what a failed attempt holds. Ray Train keeps it if a worker dies while the group starts."""
    from ray._raylet import PlacementGroupID
    from ray.util.placement_group import PlacementGroup, remove_placement_group

    for each in ids:
        remove_placement_group(PlacementGroup(PlacementGroupID(bytes.fromhex(each))))


def _cause_of(error: Exception) -> str:
    """Return the sentence of Ray's error message that says why a worker died, without the list of possible causes."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    sentences = [each for each in lines if each.startswith("The actor")]  # other lines list ids, or are of a traceback
    line = sentences[-1] if sentences else lines[-1]
    return first_line(line.partition(" Some common causes")[0])


def _call_on_worker(values: Config) -> None:
    """Call the function on a worker of Ray Train. The first worker that fails stores its error for the driver.

    All exceptions end the worker, because the others would wait for it.
    """
    _select_device()
    try:
        module, name = values["function"]
        getattr(import_module(module), name)(values["config"])
    except SystemExit:  # after a checkpoint, because the run was asked to stop
        return
    except BitcipherError as error:
        _store_error(values["error_file"], str(error), "user error")
    except Exception as error:
        if not _is_lost_connection(error):
            _store_error(values["error_file"], describe_failure(error), "exception")
        # Another worker has died. Ray notices it within seconds, and knows more about the cause.
        time.sleep(_NOTICE_SECONDS)
        _store_error(values["error_file"], describe_failure(error), "lost connection")


def _is_lost_connection(error: Exception) -> bool:
    """Return whether an error is that of a collective operation. Gloo raises plain RuntimeErrors."""
    import torch.distributed as dist

    return isinstance(error, dist.DistError) or (type(error) is RuntimeError and "gloo" in str(error))


def _select_device() -> None:
    """Make the GPU that Ray assigned to this worker torch's current one, or hide GPUs if it assigned none."""
    import ray.train.torch
    import torch

    device = ray.train.torch.get_device()
    if device.type == "cuda":
        torch.cuda.set_device(device)
    else:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def _store_error(path: str, message: str, kind: str) -> NoReturn:
    """Store an error for the driver, unless another worker stored one first, and end this worker."""
    storage.create(path, json.dumps({"message": message, "kind": kind}).encode())
    # Exceptions of libraries can be impossible to send to the driver.
    raise RuntimeError(message) from None
