"""A worker uses the device that Ray assigned to it."""

import os

import pytest
import torch

from bitcipher.errors import BitcipherError
from training.runs.pretraining_run import run_pretraining
from training.runs.workers import _select_device, run_workers


@pytest.mark.parametrize(("device", "visible"), [("cuda:1", "0,1"), ("cpu", "")])
def test_worker_uses_the_assigned_device(monkeypatch, device, visible):
    import ray.train.torch

    current = []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setattr(ray.train.torch, "get_device", lambda: torch.device(device))
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    _select_device()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == visible
    assert current == ([torch.device(device)] if device != "cpu" else [])


def test_more_workers_than_gpus_raise(ray_cluster, tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(BitcipherError, match=r"^1000 workers need a GPU each, but Ray found .*`loop\.device`"):
        run_workers(run_pretraining, {}, 1000, "cuda", str(tmp_path / "ray"), str(tmp_path / "stop"), lambda: 0)
    assert not list(tmp_path.iterdir())
