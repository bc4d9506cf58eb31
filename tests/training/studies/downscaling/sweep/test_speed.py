"""Measurement of the training speed."""

import torch

from training.studies.downscaling.sweep.options import make_study
from training.studies.downscaling.sweep.speed import measure_speed

TINY = make_study({"pretraining": {"max_position_embeddings": 8, "loop": {"device": "cpu"}}}, "test")


def test_measure_speed_restores_number_of_threads():
    threads = torch.get_num_threads()
    speed = measure_speed(TINY, 2)
    assert speed.flops_per_second > 0
    assert speed.step_seconds >= 0
    assert speed.max_concurrent_trials == 2
    assert torch.get_num_threads() == threads
