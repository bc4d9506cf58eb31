"""Pretraining whose workers tell their processes' numbers, and take their time, so that they can be killed at work."""

import os
import time
from pathlib import Path

from training.pretrain import pretrain

STEP_SECONDS = 0.1


def pretrain_slowly(config: dict) -> None:
    """Train what a recipe says, and leave a file named after this process in the run's folder."""
    (Path(config["folder"]) / f"worker-{os.getpid()}").touch()
    pretrain(config, lambda step, note: time.sleep(STEP_SECONDS))
