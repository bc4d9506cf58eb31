"""Calls a function in two processes of one process group, as Ray Train does."""

import multiprocessing
import socket
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.multiprocessing as processes


def on_two(function: Callable[[dict], None], config: dict) -> None:
    """Call the function in both processes, and raise if one fails."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # A spawned process would import torch again, which takes seconds of CPU time, and a fork of this process could wait
    # forever for a lock of one of its threads. The server has no other threads, and imports these modules once.
    multiprocessing.set_forkserver_preload([__name__, "training.runs.pretraining_run"])
    processes.start_processes(_join, (function, config, port), nprocs=2, start_method="forkserver")


def _join(rank: int, function: Callable[[dict], None], config: dict, port: int) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    function(config)
    dist.destroy_process_group()
