"""What a task offers to a fine-tuning run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from bitcipher.errors import BitcipherError
from training.tasks.encoder import Encoder

Kind = Literal["classification", "regression", "question-answering", "token-classification"]
Part = Literal["train", "validation"]

# The label of a position that has no target; what torch's cross-entropy leaves out by default.
IGNORED = -100


@dataclass(frozen=True)
class Features:
    """The rows that a model sees of one part of a task; an example may have several."""

    inputs: dict[str, np.ndarray]
    """What the model takes, [N, S] each: see `Encoder.rows`."""
    targets: dict[str, np.ndarray]
    """What the loss needs, by the names that transformers' models take: `labels` ([N] int64 or float32, or [N, S] int64
    with -100 where there is none), or `start_positions` and `end_positions` ([N] int64)."""
    notes: dict[str, np.ndarray]
    """What `Task.predictions` needs to read the model's outputs."""
    remarks: tuple[str, ...] = ()
    """What a user should know, a sentence each: what was cut."""

    def __len__(self) -> int:
        """Rows."""
        return len(self.inputs["input_ids"])


class Task(Protocol):
    """A task: numbered examples, their features, and the way from a model's outputs to readable answers and figures.

    Predictions are one an example of the validation part, in its order.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    """By number; none for regression and question answering."""
    train: Sequence[Any]
    validation: Sequence[Any]
    remarks: tuple[str, ...]
    """What a user should know of the data, a sentence each: what was repaired, dropped or filtered."""

    @property
    def main_metric(self) -> str:
        """The figure of `score` to choose by."""

    def features(self, part: Part, encoder: Encoder) -> Features:
        """The rows of a part.

        Raises:
            BitcipherError: if the part is empty, or the encoder's length too short.
        """

    def predictions(self, features: Features, outputs: dict[str, np.ndarray]) -> Sequence[Any]:
        """What a model's outputs mean.

        Args:
            features: of the validation part.
            outputs: float, by the names of transformers' outputs: `logits` ([N, labels], [N, 1] for regression,
                [N, S, labels] for tokens), or `start_logits` and `end_logits` ([N, S]).

        Raises:
            Diverged: if outputs are NaN.
        """

    def score(self, predictions: Sequence[Any]) -> dict[str, float]:
        """The figures of predictions, in percent."""

    def baselines(self) -> dict[str, Sequence[Any]]:
        """Predictions of those who have read nothing, by what they do: what a model has to be better than."""


class Diverged(BitcipherError):
    """A model's outputs are not numbers: whatever is done with it now, it will not learn."""


def get_examples(task: Task, part: Part) -> Sequence[Any]:
    """The examples of a part.

    Raises:
        BitcipherError: if it has none.
    """
    examples = task.train if part == "train" else task.validation
    if not examples:
        use = "train on" if part == "train" else "measure on"
        raise BitcipherError(f"{task.name} has no examples to {use}: its {part} part is empty.")
    return examples


def check_outputs(task: Task, outputs: dict[str, np.ndarray]) -> None:
    """See that a model's outputs can be read.

    Raises:
        Diverged: if one of them is NaN.
    """
    if any(np.isnan(values).any() for values in outputs.values()):
        raise Diverged(
            f"The model's outputs for {task.name} are not numbers (NaN): its training has diverged; "
            "try a lower learning rate."
        )
