"""Early stopping by the validation loss, with the rules of transformers' `EarlyStoppingCallback`."""

from training.loop.checkpoint_folders import TrainingState
from training.loop.options import LoopOptions


def note_evaluation(state: TrainingState, loss: float, options: LoopOptions) -> TrainingState:
    """Return the state after an evaluation. Without early stopping, it is unchanged.

    The evaluation before the first step does not count, because there is no checkpoint of step 0.

    Args:
        state: progress of the run.
        loss: validation loss at its step.
        options: options of the loop.

    >>> options, state = LoopOptions(early_stopping_patience=2, early_stopping_threshold=0.1), TrainingState()
    >>> for step, loss in ((10, 5.0), (20, 4.0), (30, 3.95), (40, 3.95)):
    ...     state = note_evaluation(state.copy_with(step=step), loss, options)
    >>> state.best_step, state.best_validation_loss, stops_early(state, options)
    (30, 3.95, True)
    """
    if options.early_stopping_patience is None or state.step == 0:
        return state
    best = state.best_validation_loss
    # As in transformers, a loss that is lower by less than the threshold is the best, but no improvement.
    has_improved = best is None or best - loss > options.early_stopping_threshold
    counter = 0 if has_improved else state.early_stopping_patience_counter + 1
    changes: dict[str, float] = {"early_stopping_patience_counter": counter}
    if best is None or loss < best:
        changes |= {"best_step": state.step, "best_validation_loss": loss}
    return state.model_copy(update=changes)


def stops_early(state: TrainingState, options: LoopOptions) -> bool:
    """Return whether a run ends at this state, before its last step."""
    patience = options.early_stopping_patience
    return patience is not None and state.early_stopping_patience_counter >= patience
