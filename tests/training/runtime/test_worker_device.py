"""A worker uses the device that Ray assigned to it."""

import os

import pytest
import torch

from training.runtime.workers import _select_device


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
