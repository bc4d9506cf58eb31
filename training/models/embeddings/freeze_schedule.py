"""Schedule of freezing the token embeddings, and functions that freeze and unfreeze weights."""

from dataclasses import dataclass

from torch import nn

from training.models.embeddings.options import EmbeddingInitOptions
from training.models.parts import token_tables


@dataclass(frozen=True)
class FreezeSchedule:
    """Decides in which steps of a run the token embeddings are frozen.

    A tied output layer shares the weight of the embeddings, so it is frozen with them.
    """

    options: EmbeddingInitOptions

    @property
    def learning_rate_multiplier(self) -> float:
        """Learning rate of the embeddings, as a multiple of that of the other weights."""
        return self.options.learning_rate_multiplier

    def max_frozen_steps(self, max_steps: int) -> int:
        """Return the maximum number of frozen steps in a run of `max_steps` steps."""
        return round(self.options.freeze_fraction * max_steps)

    def is_frozen(self, step: int, max_steps: int, unfrozen_at: int | None) -> bool:
        """Return whether the embeddings are frozen in a step.

        Args:
            step: step number, from 0.
            max_steps: number of steps of the run.
            unfrozen_at: step at which the embeddings were unfrozen early, or None.
        """
        return step < (self.max_frozen_steps(max_steps) if unfrozen_at is None else unfrozen_at)

    def should_unfreeze(self, previous_loss: float | None, loss: float) -> bool:
        """Return whether to unfreeze the embeddings early, because the validation loss no longer decreases.

        Args:
            previous_loss: validation loss of the previous evaluation, or None if there was no evaluation yet.
            loss: validation loss of the latest evaluation.
        """
        return (
            self.options.unfreeze == "plateau"
            and previous_loss is not None
            and loss > previous_loss * (1 - self.options.plateau_threshold)
        )


def set_embeddings_frozen(model: nn.Module, frozen: bool) -> None:
    """Freeze or unfreeze the token embeddings of a model."""
    for table in token_tables(model):
        table.weight.requires_grad_(not frozen)


def freeze_all_but_embeddings(model: nn.Module) -> None:
    """Freeze all weights of a model except its token embeddings and a tied output layer."""
    embeddings = {table.weight for table in token_tables(model)}
    for weight in model.parameters():
        weight.requires_grad_(weight in embeddings)
