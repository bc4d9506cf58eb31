"""Interface of fine-tuning tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from bitcipher.errors import BitcipherError
from training.loop.errors import DivergenceError
from training.tasks.encoder import Encoder

Kind = Literal["classification", "regression", "question-answering", "token-classification"]
Part = Literal["train", "validation"]

# The label of a position without a target: the default `ignore_index` of PyTorch's cross-entropy.
IGNORED = -100


@dataclass(frozen=True)
class Features:
    """Model inputs and targets of one split of a task. An example can have several rows."""

    inputs: dict[str, np.ndarray]
    """Model inputs, [N, S] each, for N rows of S tokens: see `Encoder.rows`."""
    targets: dict[str, np.ndarray]
    """Targets of the loss, under the names of transformers' models: `labels` ([N] int64 or float32, or [N, S] int64
    with -100 at positions without a target), or `start_positions` and `end_positions` ([N] int64)."""
    notes: dict[str, np.ndarray]
    """Arrays that `Task.predictions` needs to interpret the model's outputs."""
    remarks: tuple[str, ...] = ()
    """Sentences for the user, such as the number of truncated examples."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.inputs["input_ids"])


class Task(Protocol):
    """Fine-tuning task: numbered examples, their features, and the interpretation and scores of a model's outputs.

    Predictions are in the order of the validation examples.
    """

    @property
    def name(self) -> str:
        """Name of the task."""
        ...

    @property
    def kind(self) -> Kind:
        """Kind of the task."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels by number; none for regression and question answering."""
        ...

    @property
    def train(self) -> Sequence[Any]:
        """Training examples."""
        ...

    @property
    def validation(self) -> Sequence[Any]:
        """Validation examples."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences for the user about repaired, dropped or filtered examples."""
        ...

    @property
    def main_metric(self) -> str:
        """Metric of `score` that selects the best epoch."""
        ...

    def features(self, part: Part, encoder: Encoder) -> Features:
        """Return the features of a split.

        Raises:
            BitcipherError: if the split is empty, or the encoder's length too short.
        """
        ...

    def predictions(self, features: Features, outputs: dict[str, np.ndarray]) -> Any:
        """Return the predictions that a model's outputs encode, such as labels or answers.

        Args:
            features: features of the validation split.
            outputs: float arrays by transformers' names: `logits` ([N, labels], [N, 1] for regression,
                [N, S, labels] for tokens), or `start_logits` and `end_logits` ([N, S]).

        Raises:
            DivergenceError: if outputs are NaN.
        """
        ...

    def score(self, predictions: Any) -> dict[str, float]:
        """Return the metrics of predictions, in percent."""
        ...

    def baselines(self) -> Mapping[str, Any]:
        """Return predictions of trivial baselines, by name."""
        ...


def get_examples(task: Task, part: Part) -> Sequence[Any]:
    """Return the examples of a split.

    Raises:
        BitcipherError: if the split is empty.
    """
    examples = task.train if part == "train" else task.validation
    if not examples:
        use = "train on" if part == "train" else "evaluate on"
        raise BitcipherError(f"{task.name} has no examples to {use}; its {part} split is empty.")
    return examples


def check_outputs(task: Task, outputs: dict[str, np.ndarray]) -> None:
    """Check that a model's outputs are numbers.

    Raises:
        DivergenceError: if an output is NaN.
    """
    if any(np.isnan(values).any() for values in outputs.values()):
        raise DivergenceError(
            f"The model's outputs for {task.name} are not numbers (NaN), because its training has diverged; "
            "try a lower learning rate."
        )
