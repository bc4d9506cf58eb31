"""Training loop: from a model and examples to checkpoints and `metrics.jsonl`, with exact resume.

The numbers of a run are checked to be finite before they are written.
"""

import math
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import torch
from transformers import PreTrainedModel

from training.data.counter_rng import derive_key
from training.data.examples import Examples
from training.loop.checkpoint_folders import (
    TrainingState,
    find_latest_checkpoint,
    list_checkpoints,
    remove_old_checkpoints,
)
from training.loop.checkpoints import collect_tensors, drop_damaged_checkpoints, load_checkpoint, save_checkpoint
from training.loop.distributed import (
    World,
    can_lower,
    is_sharded,
    make_scaler,
    own_shard,
    restore_scale,
    shard_layers,
    with_scale,
)
from training.loop.early_stopping import note_evaluation, stops_early
from training.loop.errors import DivergenceError
from training.loop.evaluation import evaluate
from training.loop.evaluation_progress import EvaluationProgress
from training.loop.metrics_logger import MetricsLogger, read_kept_metrics
from training.loop.optimizer import (
    FreezeSchedule,
    clip_gradients,
    make_optimizer,
    make_scheduler,
    scale_learning_rates,
    set_learning_rate,
)
from training.loop.options import LoopOptions
from training.loop.run_store import RunStore
from training.loop.step import StepData, SummedLoss, compute_gradients, iter_steps
from training.loop.stop_request import STOPPED, RunLease, catching_stop_requests
from training.loop.utilization import UtilizationMeter, find_peak_flops
from training.models.losses import limiting_logits
from training.models.parts import compile_layers, set_embeddings_frozen


class FiniteCheck:
    """Remembers the first step whose loss or gradient is not finite. Steps are noted without waiting for the device.

    Args:
        device: device of the losses.
    """

    def __init__(self, device: torch.device):
        self._first = torch.zeros((), dtype=torch.int64, device=device)

    def note(self, step: int, loss: torch.Tensor, grad_norm: torch.Tensor, *, is_skipped: bool) -> None:
        """Note the loss and the gradient norm of a step, counted from 1.

        If `is_skipped`, a step whose gradient is not finite does not change the weights, so only the loss counts.
        """
        is_finite = torch.isfinite(loss) & (torch.isfinite(grad_norm) | is_skipped)
        self._first = torch.where(is_finite | (self._first > 0), self._first, step)

    def check_steps(self) -> None:
        """Check all steps so far.

        Raises:
            DivergenceError: if a loss or a gradient was not finite.
        """
        if first := int(self._first):
            raise _divergence("The loss or the gradient is", first)


def check_metrics(step: int, metrics: Mapping[str, float | int | str]) -> None:
    """Check metrics before they are written.

    Raises:
        DivergenceError: if a metric is not finite.
    """
    for name, value in metrics.items():
        if not isinstance(value, str) and not math.isfinite(value):
            raise _divergence(f"The {name.replace('_', ' ')} is", step)


def check_state(step: int, model: torch.nn.Module, optimizer: torch.optim.Optimizer, world: World) -> None:
    """Check the weights and the state of their optimizer before they are written, those of all workers.

    Raises:
        DivergenceError: if a number is not finite.
    """
    states = (tensor for state in optimizer.state.values() for tensor in state.values())
    tensors = [own_shard(tensor) for tensor in (*model.parameters(), *states)]
    # One result for all tensors, because each one that is read waits for the device.
    is_finite = torch.stack([torch.isfinite(tensor).all().to(tensors[0].device) for tensor in tensors]).all()
    if world.any_worker(not is_finite):
        raise _divergence("A weight or the state of the optimizer is", step)


def _divergence(what: str, step: int) -> DivergenceError:
    return DivergenceError(
        f"{what} not finite (NaN or infinite) at step {step:,}, so the training was stopped. Try a lower learning "
        "rate or a longer warmup, in another folder."
    )


# Called with the number of completed steps and a short note on the losses.
Advance = Callable[[int, str], None]


@dataclass(frozen=True)
class TrainingRun:
    """Model, examples and options of a training run."""

    model: PreTrainedModel
    """Model with its initial weights."""
    objective: SummedLoss
    examples: Examples
    options: LoopOptions
    freeze_schedule: FreezeSchedule
    """Steps in which the token embeddings are frozen, and their learning rate."""
    seed: int
    """Seed of dropout."""
    folder: Path
    """Folder of the run, or its working copy on this node."""
    tokens_per_sequence: int
    """Number of tokens of a training sequence, or the mean number without padding."""
    flops_of_sequence: Callable[[float], float] | None = None
    """FLOPs of a training sequence with a mean number of predictions, for the utilization; None if not known."""
    evaluator: Callable[[torch.nn.Module, World, Callable[[float], None]], dict[str, float]] | None = None
    """Function that returns additional metrics at each evaluation, such as the scores of a task. It calls its last
    argument with the fraction that is done."""
    store: RunStore | None = None
    """Store of the run; None if it is on a disk."""
    count_tokens: Callable[[int], int] | None = None
    """Function that returns the number of tokens of the first sequences of the run, for the `tokens` of the metrics;
    None if all have `tokens_per_sequence`."""
    model_files: Mapping[str, bytes] = field(default_factory=dict)
    """Further files of each checkpoint by their names: those of the tokenizer."""

    @property
    def uri(self) -> str:
        """Path or URI of the run."""
        return self.store.uri if self.store else str(self.folder)


def run_loop(run: TrainingRun, world: World, advance: Advance = lambda step, note: None) -> TrainingState:
    """Train until the last step or an early stop, from the latest checkpoint if there is one. Return the progress.

    SIGTERM saves a checkpoint after the current step, and exits with code 143. If the latest checkpoint is damaged, it
    is removed, and the run resumes from an older one. At the end, the model has the weights of the last step, which are
    not the best ones if `model_step` of the progress is another step.

    Args:
        run: model, examples and options.
        world: this worker.
        advance: called with the number of completed steps and a note on the losses.

    Raises:
        DivergenceError: if a loss, a gradient or a weight is not finite. Nothing is saved then.
        BitcipherError: if all checkpoints are damaged, a file cannot be written, or another job has taken over the
            folder.
        SystemExit: if the run was asked to stop.
    """
    with (
        closing(_Trainer(run, world, advance)) as trainer,
        catching_stop_requests(trainer.leased_folder) as is_asked,
        limiting_logits(run.options.max_logits),
    ):
        trainer.resume()
        if trainer.state.step == 0 and run.options.eval_on_start:
            trainer.evaluate()
        run.model.train()
        if not trainer.is_complete:
            _train(run, world, trainer, is_asked)
    return trainer.state


def _train(run: TrainingRun, world: World, trainer: "_Trainer", is_asked: Callable[[], bool]) -> None:
    options = run.options
    for data in iter_steps(run.examples, run.objective, options, world, trainer.state.step):
        trainer.update(data)
        step = trainer.state.step
        if step == options.max_steps or step % options.eval_steps == 0:
            trainer.evaluate()
        is_best = step == trainer.state.best_step
        stops = world.any_worker(is_asked())
        if trainer.is_complete or is_best or stops or step % options.save_steps == 0:
            trainer.save_checkpoint()
        if trainer.is_complete:
            trainer.end_reports()
        if stops:
            raise SystemExit(STOPPED)
        if trainer.is_complete:
            return


class _Trainer:
    """One worker's state of a run."""

    def __init__(self, run: TrainingRun, world: World, advance: Advance):
        self.state = TrainingState()
        self._run, self._world, self._advance = run, world, advance
        if run.options.fsdp:
            shard_layers(run.model, world, run.options)
        self._model = run.model.to(world.device)
        if run.options.activation_checkpointing:
            self._model.activation_checkpointing_enable()
        self._optimizer = make_optimizer(self._model, run.options, run.freeze_schedule.learning_rate_multiplier)
        self._scheduler = make_scheduler(self._optimizer, run.options)
        self._scaler = make_scaler(world, run.options)
        self._logger: MetricsLogger | None = None
        self._finite = FiniteCheck(world.device)
        self._utilization: UtilizationMeter | None = None
        self._lease = RunLease(run.uri)
        self.leased_folder = self._lease.folder or run.uri
        self._clock = time.perf_counter()

    def resume(self) -> None:
        """Load the latest checkpoint that is intact, if there is one."""
        if self._world.rank == 0:
            self._find_intact_checkpoint()
        self._world.barrier()
        if self._run.store and self._world.rank > 0:
            next(self._run.store.download_checkpoints(), None)
        if checkpoint := find_latest_checkpoint(self._run.folder):
            self.state = load_checkpoint(checkpoint, self._model, self._optimizer)
            restore_scale(self._scaler, self.state)
        peak = find_peak_flops(self._run.options, self._world)
        if self._run.flops_of_sequence and peak:
            self._utilization = UtilizationMeter(self._run.flops_of_sequence, peak, self.state.seconds)
        if self._run.options.compile:
            compile_layers(self._model)
        if self._world.rank == 0:
            remove_old_checkpoints(self._run.folder, self._run.options.save_total_limit)
            run, kept = self._run, read_kept_metrics(self._run.folder)
            self._logger = MetricsLogger(run.uri, run.folder, self.state.step, kept, run.options.report_to)
        self._clock = time.perf_counter()

    def _find_intact_checkpoint(self) -> None:
        """Remove the latest checkpoints if they are damaged. In a store, download the latest intact one."""
        folder, store = self._run.folder, self._run.store
        checkpoints = store.download_checkpoints() if store else reversed(list_checkpoints(folder))
        if sentence := drop_damaged_checkpoints(folder, checkpoints):
            warnings.warn(store.name_uri(sentence) if store else sentence, stacklevel=3)
        if store:
            intact = find_latest_checkpoint(folder)
            store.remove_checkpoints_after(intact and intact.name)

    def update(self, data: StepData) -> None:
        """Update the weights once, and log the loss if it is due."""
        run, options, step = self._run, self._run.options, self.state.step
        is_frozen = run.freeze_schedule.is_frozen(step, options.max_steps, self.state.unfrozen_at)
        set_embeddings_frozen(self._model, is_frozen)
        key = derive_key(run.seed, "dropout", step)
        loss = compute_gradients(self._model, run.objective, data, self._world, options, self._scaler, key)
        self._scaler.unscale_(self._optimizer)
        grad_norm = clip_gradients(self._model, options.max_grad_norm)
        self._finite.note(step + 1, loss, grad_norm, is_skipped=can_lower(self._scaler))
        learning_rate = set_learning_rate(self._optimizer, self._scheduler, step)
        if options.scale_parameter:
            scale_learning_rates(self._optimizer)
        self._scaler.step(self._optimizer)  # skips the step if float16 gradients are not finite
        self._scaler.update()
        self._optimizer.zero_grad(set_to_none=True)
        if self._utilization:
            self._utilization.note(data, options.batch_size_at(step) // self._world.size)
        is_logged = step + 1 == options.max_steps or (step + 1) % options.logging_steps == 0
        metrics: dict[str, float] = {}
        if is_logged:
            # `float` waits for the device, so values are read only if they are logged.
            self._finite.check_steps()
            metrics = {"loss": float(loss), "grad_norm": float(grad_norm), "learning_rate": learning_rate}
            if self._scaler.is_enabled():
                metrics["loss_scale"] = self._scaler.get_scale()
            if not math.isfinite(metrics["grad_norm"]):  # of a step that was skipped
                del metrics["grad_norm"]
        seconds = self.state.seconds + time.perf_counter() - self._clock
        self.state = self.state.model_copy(update={"step": step + 1, "seconds": seconds})
        if is_logged and self._utilization:
            metrics |= self._utilization.read(seconds, run.tokens_per_sequence, self._world.size)
        if is_logged:
            self._log(metrics)
        self._clock = time.perf_counter()

    def evaluate(self) -> None:
        """Log the validation loss, and update what depends on it: the best step, and the freeze schedule."""
        run, state = self._run, self.state
        self._finite.check_steps()
        with EvaluationProgress(run.folder if self._logger else None) as progress:
            metrics = evaluate(self._model, run.objective, run.examples, run.options, self._world, progress.advance)
            if run.evaluator:
                metrics |= run.evaluator(self._model, self._world, progress.advance)
        loss = metrics["validation_loss"]
        is_frozen = run.freeze_schedule.is_frozen(state.step, run.options.max_steps, state.unfrozen_at)
        unfreezes = is_frozen and run.freeze_schedule.should_unfreeze(state.last_validation_loss, loss)
        unfrozen_at = state.step if unfreezes else state.unfrozen_at
        state = state.model_copy(update={"unfrozen_at": unfrozen_at, "last_validation_loss": loss})
        self.state = note_evaluation(state, loss, run.options)
        if self.state.best_step is not None:
            metrics |= {"best_step": self.state.best_step, "stopped_early": int(stops_early(self.state, run.options))}
        self._log(metrics)
        self._clock = time.perf_counter()

    def save_checkpoint(self) -> None:
        """Write a checkpoint; no worker continues before it is complete."""
        self._finite.check_steps()
        check_state(self.state.step, self._model, self._optimizer, self._world)
        self._check_lease()
        self.state = with_scale(self.state, self._scaler)
        if self._logger or is_sharded(self._model):
            tensors = collect_tensors(self._model, self._optimizer, keep=self._logger is not None)
        if self._logger:
            store, limit = self._run.store, self._run.options.save_total_limit
            metrics = self._logger.digest()
            checkpoint = save_checkpoint(
                self._run.folder,
                self._model,
                tensors,
                self.state,
                metrics,
                1 if store else limit,
                self._run.model_files,
            )
            if store:
                self._logger.flush()
                store.upload_checkpoint(checkpoint, limit)
        self._world.barrier()
        self._clock = time.perf_counter()

    def end_reports(self) -> None:
        """Close the trackers of a complete run, which write their last metrics only then."""
        if self._logger:
            self._logger.close(is_complete=True)
            if self._run.store:
                self._run.store.upload_files()

    def close(self) -> None:
        """Close the metrics files."""
        if self._logger:
            self._logger.close(is_complete=False)

    @property
    def is_complete(self) -> bool:
        """Whether the run has ended, by its last step or an early stop."""
        return self.state.step == self._run.options.max_steps or stops_early(self.state, self._run.options)

    def _check_lease(self) -> None:
        """Raise an error on all workers if another job has taken over the folder."""
        if self._world.any_worker(self._world.rank == 0 and self._lease.is_lost()):
            raise self._lease.error()

    def _log(self, metrics: dict[str, float]) -> None:
        check_metrics(self.state.step, metrics)
        # In a store, other metrics wait for the next upload.
        is_stored = self._run.store is None or "validation_loss" in metrics
        if is_stored:
            self._check_lease()
        state = self.state
        n_sequences = self._run.options.count_sequences(state.step)
        count_tokens = self._run.count_tokens
        tokens = count_tokens(n_sequences) if count_tokens else n_sequences * self._run.tokens_per_sequence
        cost = {"tokens": tokens, "seconds": round(state.seconds, 3)}
        if self._logger:
            self._logger.write(state.step, cost | metrics)
            if self._run.store and is_stored:
                self._logger.flush()
                self._run.store.upload_files()
        titles = {"loss": "loss", "validation_loss": "validation loss"}
        note = "  ".join(f"{title} {metrics[name]:.3f}" for name, title in titles.items() if name in metrics)
        self._advance(state.step, note)
