"""The loop: from a model and examples to checkpoints and `metrics.jsonl`, going on where a run was stopped."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from training.chance import key_of
from training.embeddings import Table, set_frozen
from training.loop.checkpoints import load_optimizer, load_weights, newest_checkpoint, read_state, save_checkpoint
from training.loop.evaluation import evaluate
from training.loop.examples import Examples
from training.loop.journal import Journal
from training.loop.optimizer import make_optimizer, set_rate
from training.loop.options import LoopOptions
from training.loop.steps import gather_gradients, steps_of
from training.loop.world import World
from training.objectives import Objective


@dataclass(frozen=True)
class Job:
    """All that a run is made of."""

    model: torch.nn.Module
    """With the weights that it starts from."""
    objective: Objective
    examples: Examples
    options: LoopOptions
    table: Table
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


def run_loop(job: Job, world: World, advance: Callable[[int, str], None] = lambda step, note: None) -> None:
    """Train until the last step.

    Args:
        job: what to train, on what, and where to.
        world: which worker this is.
        advance: called with the steps that are done and a note on them.
    """
    options, model = job.options, job.model.to(world.device)
    optimizer = make_optimizer(model, options, job.table.rate)
    progress = Progress()
    if checkpoint := newest_checkpoint(job.folder):
        load_weights(checkpoint, model)
        load_optimizer(checkpoint, model, optimizer)
        progress = Progress(**read_state(checkpoint))
    if options.compile:
        model.base_model.compile()
    writes = world.rank == 0
    journal = Journal(job.folder, progress.step) if writes else None

    def look(progress: Progress) -> Progress:
        figures = evaluate(model, job.objective, job.examples, options, world)
        if job.judge:
            figures |= job.judge(model, world)
        if journal:
            journal.write(progress.step, _spent(job, progress) | figures)
        advance(progress.step, _note(figures))
        is_over = job.table.is_frozen(progress.step, options.steps, progress.thawed_at) and job.table.thaws(
            progress.last_loss, figures["validation_loss"]
        )
        thawed_at = progress.step if is_over else progress.thawed_at
        return replace(progress, thawed_at=thawed_at, last_loss=figures["validation_loss"])

    if progress.step == 0:
        progress = look(progress)
    model.train()
    started = time.perf_counter()
    for data in steps_of(job.examples, job.objective, options, world, progress.step):
        step = progress.step
        set_frozen(model, job.table.is_frozen(step, options.steps, progress.thawed_at))
        loss = gather_gradients(model, job.objective, data, world, options, key_of(job.seed, "dropout", step))
        length = torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
        rate = set_rate(optimizer, options, step)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        is_last = step + 1 == options.steps
        is_logged = is_last or (step + 1) % options.log_every == 0
        figures = {"loss": float(loss), "gradient": float(length), "rate": rate} if is_logged else {}
        progress = replace(progress, step=step + 1, seconds=progress.seconds + time.perf_counter() - started)
        if is_logged:
            if journal:
                journal.write(progress.step, _spent(job, progress) | figures)
            advance(progress.step, _note(figures))
        if is_last or progress.step % options.evaluate_every == 0:
            progress = look(progress)
        if is_last or progress.step % options.checkpoint_every == 0:
            if writes:
                save_checkpoint(job.folder, model, optimizer, asdict(progress), options.keep_checkpoints)
            world.wait()
        started = time.perf_counter()
    if journal:
        journal.close()


def _spent(job: Job, progress: Progress) -> dict[str, Any]:
    return {"tokens": progress.step * job.tokens_per_step, "seconds": round(progress.seconds, 3)}


def _note(figures: dict[str, float]) -> str:
    names = {"loss": "loss", "validation_loss": "held out"}
    return "  ".join(f"{title} {figures[name]:.3f}" for name, title in names.items() if name in figures)
