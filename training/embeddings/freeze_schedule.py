"""When an embedding table is frozen, and when it thaws."""

from dataclasses import dataclass

from torch import nn

from training.embeddings.options import EmbeddingInitOptions
from training.models import input_embeddings


@dataclass(frozen=True)
class FreezeSchedule:
    """The embedding table through a run.

    A frozen table is not trained, and neither is a head that is tied to it (SPEC section 6): it is the same weight.
    """

    options: EmbeddingInitOptions

    @property
    def rate(self) -> float:
        """Its learning rate, as a share of that of all other weights."""
        return self.options.rate

    def frozen_steps(self, steps: int) -> int:
        """For how many steps of a run it is frozen at most."""
        return round(self.options.frozen * steps)

    def is_frozen(self, step: int, steps: int, thawed_at: int | None) -> bool:
        """Whether it is frozen in a step.

        Args:
            step: from 0.
            steps: of the run.
            thawed_at: the step at which it thawed early, or None.
        """
        return step < (self.frozen_steps(steps) if thawed_at is None else thawed_at)

    def thaws(self, before: float | None, now: float) -> bool:
        """Whether it thaws early.

        Args:
            before: the held-out loss of the evaluation before, or None.
            now: that of this one.
        """
        return self.options.thaw == "plateau" and before is not None and now > before * (1 - self.options.plateau)


def set_frozen(model: nn.Module, frozen: bool) -> None:
    """Train the embedding table of a model, or do not."""
    input_embeddings(model).weight.requires_grad_(not frozen)


def freeze_all_but_table(model: nn.Module) -> None:
    """Train the embedding table of a model alone, with a head that is tied to it, and never anything else."""
    table = input_embeddings(model).weight
    for weight in model.parameters():
        weight.requires_grad_(weight is table)
