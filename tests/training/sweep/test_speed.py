"""How fast this machine trains; what it measures depends on the machine."""

import torch

from training.sweep.options import make_study
from training.sweep.speed import measure_speed

TINY = make_study({"pretraining": {"max_position_embeddings": 8, "loop": {"device": "cpu"}}}, "test")


def test_a_speed_is_measured_and_leaves_threads_as_they_were():
    threads = torch.get_num_threads()
    speed = measure_speed(TINY, 2)
    assert speed.flops_per_second > 0
    assert speed.step_seconds >= 0
    assert speed.max_concurrent_trials == 2
    assert torch.get_num_threads() == threads
