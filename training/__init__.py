"""Language models of bitcipher, initialized with cipher vectors: pre-training, fine-tuning, generation, analysis."""

import os
from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.runs.launch.finetuning import FinetuningResult, finetune
    from training.runs.launch.pretraining import pretrain
    from training.runs.launch.run_result import RunResult

__all__ = ["FinetuningResult", "RunResult", "finetune", "pretrain"]

# Threads of torch wait for each other in nearly every operation. By default, they wait in a loop, which makes training
# many times slower on a machine whose cores are busy. OpenMP reads this when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__getattr__ = lazy_names(
    __name__,
    {
        "runs.launch.finetuning": ("FinetuningResult", "finetune"),
        "runs.launch.pretraining": ("pretrain",),
        "runs.launch.run_result": ("RunResult",),
    },
)
