"""How fast this machine trains: a few steps of a small and of a larger model, before a study is fitted to a time."""

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import torch

from training.counter_rng import derive_key, uniform
from training.data import SpecialTokens
from training.embeddings import EmbeddingInitOptions, FreezeSchedule
from training.loop import Batch, LoopOptions, TrainingRun, World, run_loop
from training.models import build_model
from training.objectives import MaskedLM
from training.scaling import Shape
from training.sweep.budget import Speed, computed_flops
from training.sweep.options import Study
from training.sweep.trials import PretrainingTrial, make_recipe

# Two models, and their batches, whose FLOPs are far apart, so that what a step takes at none can be told. The larger is
# one of a small study: more would take longer, and tell the same.
_SMALL, _LARGE = (Shape(8, 8, 16, 1, 1), 1), (Shape(128, 128, 512, 4, 4), 16)
_VOCABULARY = 4000
# The first two steps are not counted.
_STEPS, _UNCOUNTED = 8, 2
_SPECIALS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=())


@dataclass(frozen=True)
class _Noise:
    """Examples of random tokens; see `training.loop.Examples`."""

    length: int
    validation_size: int = 1

    def training_batch(self, positions: np.ndarray) -> Batch:
        tokens = uniform(derive_key(0, "noise"), positions, self.length) * (_VOCABULARY - 5)
        hidden = np.arange(0, tokens.size, 7)  # one in seven, as 15 %
        shown = tokens.astype(np.int64) + 5
        labels = shown.reshape(-1)[hidden]
        shown.reshape(-1)[hidden] = _SPECIALS.mask
        return {"input_ids": shown, "positions": hidden, "labels": labels}

    def validation_batch(self, ids: np.ndarray) -> Batch:
        return self.training_batch(ids)


def measure_speed(study: Study, at_once: int) -> Speed:
    """Train two models on noise for some steps each, with as many threads as a trial has.

    Args:
        study: whose sequences and precision are taken.
        at_once: trials at the same time, each with one thread, as Ray has it; 0 for one after another, each with as
            many as this process has.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1 if at_once else before)
    try:
        small, large = (_step_seconds(study, *measured) for measured in (_SMALL, _LARGE))
    finally:
        torch.set_num_threads(before)
    flops = [batch * computed_flops(study, shape, _VOCABULARY) for shape, batch in (_SMALL, _LARGE)]
    per_second = (flops[1] - flops[0]) / max(large - small, 1e-9)
    return Speed(per_second, max(0.0, small - flops[0] / per_second), max(1, at_once))


def _step_seconds(study: Study, shape: Shape, batch: int) -> float:
    loop = LoopOptions(
        max_steps=_STEPS,
        batch_size=batch,
        logging_steps=1,
        eval_steps=_STEPS,
        eval_sequences=1,
        save_steps=_STEPS,
        precision=study.pretraining.loop.precision,
        device=study.pretraining.loop.device,
    )
    timed = study.copy_with(pretraining=study.pretraining.copy_with(loop=loop))
    recipe = make_recipe(PretrainingTrial(shape), timed, (), (), "")
    model = build_model(recipe.model, _SPECIALS, _VOCABULARY, seed=0)
    with TemporaryDirectory() as folder:
        table = FreezeSchedule(EmbeddingInitOptions())
        noise = _Noise(study.pretraining.max_position_embeddings)
        run = TrainingRun(model, MaskedLM(), noise, loop, table, 0, Path(folder), batch * noise.length)
        # Before the first step and after each.
        times: list[float] = []
        run_loop(run, World.current(loop.device), lambda step, note: times.append(time.perf_counter()))
    return median(np.diff(times[: _STEPS + 1])[_UNCOUNTED:].tolist())
