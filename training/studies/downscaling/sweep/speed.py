"""Measurement of the training speed: a few steps of a small and of a larger model on random tokens."""

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import torch

from training.data.counter_rng import derive_key, uniform
from training.data.examples import Batch
from training.data.special_tokens import SpecialTokens
from training.loop.distributed import World
from training.loop.optimizer import FreezeSchedule
from training.loop.options import LoopOptions
from training.loop.training_run import TrainingRun, run_loop
from training.models.build import build_model
from training.models.embeddings.options import EmbeddingInitOptions
from training.objectives.masked import MaskedLM
from training.studies.downscaling.scaling.shape import Shape
from training.studies.downscaling.sweep.budget import Speed, flops_spent
from training.studies.downscaling.sweep.options import SHAPES, Study
from training.studies.downscaling.sweep.trials import PretrainingTrial, make_recipe

# Two shapes, each with a batch size. Their FLOPs differ so much that the overhead of a step, which does not depend on
# FLOPs, can be extrapolated from them. The larger shape is typical of a small study.
_SMALL, _LARGE = ((8, 8, 16, 1, 1), 1), ((128, 128, 512, 4, 4), 16)
_VOCABULARY = 4000
# The first steps are excluded as warmup.
_STEPS, _WARMUP_STEPS = 8, 2
_MASK = 4
_SPECIALS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=_MASK, sentinels=())


@dataclass(frozen=True)
class _RandomExamples:
    """Examples of random tokens; see `training.data.examples.Examples`."""

    length: int
    validation_size: int = 1
    validation_sources: tuple[str, ...] = ()

    def training_batch(self, positions: np.ndarray) -> Batch:
        tokens = uniform(derive_key(0, "noise"), positions, self.length) * (_VOCABULARY - 5)
        masked = np.arange(0, tokens.size, 7)  # about 15 %
        input_ids = tokens.astype(np.int64) + 5
        labels = input_ids.reshape(-1)[masked]
        input_ids.reshape(-1)[masked] = _MASK
        return {"input_ids": input_ids, "positions": masked, "labels": labels}

    def validation_batch(self, ids: np.ndarray) -> Batch:
        return self.training_batch(ids)

    def validation_source_numbers(self, ids: np.ndarray) -> np.ndarray:
        return np.zeros(len(ids), np.int64)


def measure_speed(study: Study, max_concurrent_trials: int) -> Speed:
    """Return the training speed on random tokens, with as many threads as a trial has.

    Args:
        study: study with the sequence length, precision and device.
        max_concurrent_trials: number of concurrent trials on Ray, with one thread each; 0 for sequential trials, which
            use all threads of this process.
    """
    sizes = [(SHAPES[study.pretraining.architecture](*shape), batch) for shape, batch in (_SMALL, _LARGE)]
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1 if max_concurrent_trials else n_threads)
    try:
        small, large = (_step_seconds(study, shape, batch) for shape, batch in sizes)
    finally:
        torch.set_num_threads(n_threads)
    flops = [batch * flops_spent(study, shape, _VOCABULARY) for shape, batch in sizes]
    per_second = (flops[1] - flops[0]) / max(large - small, 1e-9)
    return Speed(
        flops_per_second=per_second,
        step_seconds=max(0.0, small - flops[0] / per_second),
        max_concurrent_trials=max(1, max_concurrent_trials),
    )


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
    short_study = study.copy_with(pretraining=study.pretraining.copy_with(loop=loop))
    recipe = make_recipe(PretrainingTrial(shape), short_study, (), (), "")
    model = build_model(recipe.model, _SPECIALS, _VOCABULARY, seed=0)
    with TemporaryDirectory() as folder:
        schedule = FreezeSchedule(EmbeddingInitOptions())
        examples = _RandomExamples(study.pretraining.max_position_embeddings)
        run = TrainingRun(model, MaskedLM(), examples, loop, schedule, 0, Path(folder), batch * examples.length)
        # Times before the first step and after each step.
        times: list[float] = []
        run_loop(run, World.current(loop.device), lambda step, note: times.append(time.perf_counter()))
    return median(np.diff(times[: _STEPS + 1])[_WARMUP_STEPS:].tolist())
