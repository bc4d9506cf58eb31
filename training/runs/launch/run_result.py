"""Result of a training run, and a sentence on its early stop. This module does not import torch."""

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.records import Record, Strings
from training.evaluation.text_pairs.scores import TextPairScores
from training.loop.checkpoint_folders import TrainingState, find_checkpoint, read_latest_state
from training.loop.early_stopping import stops_early
from training.loop.metrics_logger import read_metrics
from training.loop.options import LoopOptions
from training.loop.run_store import copying_run


class RunResult(Record):
    """Result of a pre-training or fine-tuning run."""

    folder: str
    """Path or URI of the run."""
    checkpoint: str
    """Path or URI of the folder of its model: with early stopping the best checkpoint, else the last one."""
    metrics: dict[str, float]
    """Metrics of the validation split at this checkpoint, such as `validation_loss`, and its `step`."""
    stopped_early: bool
    """Whether the run ended before its last step, because the validation loss did not improve."""
    remarks: Strings
    """Sentences for the user, such as that on an early stop."""
    text_pairs: TextPairScores | None = None
    """Scores of a run on pairs of texts."""

    @property
    def model_name(self) -> str:
        """Name of the checkpoint in the folder of the run, such as checkpoints/00000500."""
        return self.checkpoint.removeprefix(storage.join(self.folder, ""))


def find_state(folder: str) -> TrainingState | None:
    """Return the progress of a run before it is trained, or None if it has no checkpoint, or a damaged one."""
    try:
        return read_latest_state(folder)
    except BitcipherError:  # the loop resumes from an older checkpoint
        return None


def is_trained(state: TrainingState | None, loop: LoopOptions) -> bool:
    """Return whether a run with this progress has ended."""
    return state is not None and (state.step >= loop.max_steps or stops_early(state, loop))


def read_run_result(folder: str, loop: LoopOptions, before: TrainingState | None) -> RunResult:
    """Return the result of a finished run.

    Args:
        folder: path or URI of the run.
        loop: its options of the loop.
        before: its progress before this job, from `find_state`.

    Raises:
        BitcipherError: if a file of the run is missing or damaged, or the store fails.
    """
    state = read_latest_state(folder) or TrainingState()
    with copying_run(folder) as copy:
        lines = read_metrics(copy)
    return RunResult(
        folder=folder,
        checkpoint=find_checkpoint(folder),
        metrics=next(line for line in lines if line["step"] == state.model_step and "validation_loss" in line),
        stopped_early=stops_early(state, loop),
        remarks=tuple(_describe_model(state, loop, before)),
    )


def _describe_model(state: TrainingState, loop: LoopOptions, before: TrainingState | None) -> list[str]:
    """Return a sentence on the early stop, and one on the checkpoint that is the model if it is not the last one."""
    sentences: list[str] = []
    if stops_early(state, loop):
        is_unchanged = before is not None and before.step == state.step
        subject = "Nothing was trained, because the run has stopped early" if is_unchanged else "The run stopped early"
        sentences.append(
            f"{subject} at step {state.step:,}: the validation loss did not improve in {loop.early_stopping_patience} "
            "evaluations in a row."
        )
    if state.best_validation_loss is not None and state.model_step != state.step:
        sentences.append(
            f"The model is the checkpoint of step {state.model_step:,}, which has the lowest validation loss "
            f"({state.best_validation_loss:.4f})."
        )
    return sentences
