"""Progress of a run. This module is imported to check options, so it does not import torch."""

from pydantic import Field

from bitcipher.files.records import Record

STATE = "state.json"


class TrainingState(Record):
    """Progress of a run, as stored in a checkpoint."""

    step: int = Field(0, ge=0)
    """Number of completed updates."""
    seconds: float = 0.0
    """Time spent on updates, without evaluations and checkpoints."""
    unfrozen_at: int | None = None
    """Step at which the embeddings were unfrozen early, or None."""
    last_validation_loss: float | None = None
    """Validation loss of the latest evaluation."""
    best_step: int | None = Field(None, ge=1)
    """With early stopping: step of the evaluation with the lowest validation loss so far."""
    best_validation_loss: float | None = None
    """With early stopping: lowest validation loss so far."""
    early_stopping_patience_counter: int = Field(0, ge=0)
    """With early stopping: number of evaluations since the validation loss improved."""
    loss_scale: float | None = Field(None, gt=0)
    """With float16: scale of the loss."""
    loss_scale_steps: int = Field(0, ge=0)
    """With float16: number of steps since the scale has changed."""

    @property
    def model_step(self) -> int:
        """Step of the checkpoint that is the model of the run: the best with early stopping, else the latest."""
        return self.step if self.best_step is None else self.best_step
