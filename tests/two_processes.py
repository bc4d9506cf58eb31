"""Calls a function in two processes of one process group, as Ray Train does."""

import multiprocessing
import tempfile
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.multiprocessing as processes


def on_two(function: Callable[[dict], None], config: dict) -> None:
    """Call the function in both processes, and raise if one fails."""
    # A spawned process would import torch again, which takes seconds of CPU time, and a fork of this process could wait
    # forever for a lock of one of its threads. The server has no other threads, and imports these modules once.
    multiprocessing.set_forkserver_preload([__name__, "training.runs.pretraining_run"])
    # The processes meet in a file, because another process could take a port that is free now.
    with tempfile.TemporaryDirectory() as folder:
        arguments = (function, config, f"file://{folder}/group")
        processes.start_processes(_join, arguments, nprocs=2, start_method="forkserver")


def _join(rank: int, function: Callable[[dict], None], config: dict, meeting: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
    function(config)
    dist.destroy_process_group()
