"""The loop: from a model and examples to checkpoints and `metrics.jsonl`, going on where a run was stopped."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from training.counter_rng import key_of
from training.embeddings import FreezeSchedule, set_frozen
from training.loop.checkpoints import load_optimizer, load_weights, newest_checkpoint, read_state, save_checkpoint
from training.loop.distributed import World
from training.loop.evaluation import evaluate
from training.loop.examples import Examples
from training.loop.metrics_logger import MetricsLogger
from training.loop.optimizer import make_optimizer, set_rate
from training.loop.options import LoopOptions
from training.loop.steps import StepData, gather_gradients, steps_of
from training.objectives import Objective


@dataclass(frozen=True)
class TrainingRun:
    """All that a run is made of."""

    model: torch.nn.Module
    """With the weights that it starts from."""
    objective: Objective
    examples: Examples
    options: LoopOptions
    table: FreezeSchedule
    """When the embedding table is frozen, and how it is trained after."""
    seed: int
    folder: Path
    tokens_per_step: int
    """For the axis of tokens in curves."""
    judge: Callable[[torch.nn.Module, World], dict[str, float]] | None = None
    """Further figures of each evaluation, such as a task's scores."""


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    step: int = 0
    """Updates that were made."""
    seconds: float = 0.0
    """Spent on them; evaluations and checkpoints are not counted."""
    thawed_at: int | None = None
    """The step at which a frozen table thawed before its time."""
    last_loss: float | None = None
    """Of the evaluation before, on held-out examples."""


def run_loop(job: TrainingRun, world: World, advance: Callable[[int, str], None] = lambda step, note: None) -> None:
    """Train until the last step.

    Args:
        job: what to train, on what, and where to.
        world: which worker this is.
        advance: called with the steps that are done and a note on them.
    """
    with closing(_Run(job, world, advance)) as run:
        run.go_on()
        if run.progress.step == 0:
            run.look()
        job.model.train()
        for data in steps_of(job.examples, job.objective, job.options, world, run.progress.step):
            run.update(data)
            is_last = run.progress.step == job.options.steps
            if is_last or run.progress.step % job.options.evaluate_every == 0:
                run.look()
            if is_last or run.progress.step % job.options.checkpoint_every == 0:
                run.keep()


class _Run:
    """What one worker holds of a run."""

    def __init__(self, job: TrainingRun, world: World, advance: Callable[[int, str], None]):
        self.progress = Progress()
        self._job, self._world, self._advance = job, world, advance
        self._model = job.model.to(world.device)
        self._optimizer = make_optimizer(self._model, job.options, job.table.rate)
        self._journal: MetricsLogger | None = None
        self._since = time.perf_counter()

    def go_on(self) -> None:
        """Take up the newest checkpoint, if there is one."""
        if checkpoint := newest_checkpoint(self._job.folder):
            load_weights(checkpoint, self._model)
            load_optimizer(checkpoint, self._model, self._optimizer)
            self.progress = Progress(**read_state(checkpoint))
        if self._job.options.compile:
            self._model.base_model.compile()
        if self._world.rank == 0:
            self._journal = MetricsLogger(self._job.folder, self.progress.step)
        self._since = time.perf_counter()

    def update(self, data: StepData) -> None:
        """Make one update of the weights, and write down its loss if it is time to."""
        job, options, step = self._job, self._job.options, self.progress.step
        set_frozen(self._model, job.table.is_frozen(step, options.steps, self.progress.thawed_at))
        key = key_of(job.seed, "dropout", step)
        loss = gather_gradients(self._model, job.objective, data, self._world, options, key)
        length = torch.nn.utils.clip_grad_norm_(self._model.parameters(), options.clip)
        rate = set_rate(self._optimizer, options, step)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        is_logged = step + 1 == options.steps or (step + 1) % options.log_every == 0
        # Reading a number waits for the device, so it is done only if it is needed.
        figures = {"loss": float(loss), "gradient": float(length), "rate": rate} if is_logged else {}
        now = time.perf_counter()
        self.progress = replace(self.progress, step=step + 1, seconds=self.progress.seconds + now - self._since)
        if is_logged:
            self._write(figures)
        self._since = time.perf_counter()

    def look(self) -> None:
        """Evaluate on held-out examples, and thaw the table if it is time to."""
        job, progress = self._job, self.progress
        figures = evaluate(self._model, job.objective, job.examples, job.options, self._world)
        if job.judge:
            figures |= job.judge(self._model, self._world)
        self._write(figures)
        loss = figures["validation_loss"]
        is_frozen = job.table.is_frozen(progress.step, job.options.steps, progress.thawed_at)
        thaws = is_frozen and job.table.thaws(progress.last_loss, loss)
        self.progress = replace(progress, thawed_at=progress.step if thaws else progress.thawed_at, last_loss=loss)
        self._since = time.perf_counter()

    def keep(self) -> None:
        """Write a checkpoint; no worker goes on before it is there."""
        if self._world.rank == 0:
            keep = self._job.options.keep_checkpoints
            save_checkpoint(self._job.folder, self._model, self._optimizer, asdict(self.progress), keep)
        self._world.wait()
        self._since = time.perf_counter()

    def close(self) -> None:
        """Let go of the files."""
        if self._journal:
            self._journal.close()

    def _write(self, figures: dict[str, float]) -> None:
        progress = self.progress
        spent = {"tokens": progress.step * self._job.tokens_per_step, "seconds": round(progress.seconds, 3)}
        if self._journal:
            self._journal.write(progress.step, spent | figures)
        names = {"loss": "loss", "validation_loss": "held out"}
        note = "  ".join(f"{title} {figures[name]:.3f}" for name, title in names.items() if name in figures)
        self._advance(progress.step, note)
