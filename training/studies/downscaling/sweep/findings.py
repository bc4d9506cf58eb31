"""Results of a study as plain records, the input of tables and figures."""

from dataclasses import dataclass
from typing import Any

from training.studies.downscaling.scaling.shape import Shape


@dataclass(frozen=True)
class Evaluation:
    """Loss of a model on the development split during training."""

    step: int
    """Number of completed steps."""
    sequences: int
    """Number of training sequences so far."""
    loss: float
    """Mean cross-entropy of masked tokens, in nats."""


@dataclass(frozen=True)
class PretrainedModel:
    """Model of the study, with its losses during and after pre-training."""

    name: str
    """Name of its trial, such as "256-32-1024-8-8" or "256-32-1024-8-8-cipher"."""
    shape: Shape
    init: str
    """Initialization of the token embeddings: random or cipher."""
    language: str
    """Training text: constrained (filtered by the vocabulary) or unconstrained (not filtered)."""
    vocabulary: int
    """Number of tokens of its tokenizer, which parameters and FLOPs depend on."""
    evaluations: tuple[Evaluation, ...]
    """Evaluations by step, including the one before the first step."""
    test_loss: float | None
    """Final loss on the constrained test split, in nats; None if the run has not finished."""
    stopped: str | None = None
    """Reason for an early stop, as a sentence; None if the run was not stopped."""


@dataclass(frozen=True)
class Score:
    """Score of a fine-tuned model, or of its random-init baseline."""

    model: str
    """Name of the pre-trained model, or of its checkpoint, such as "256-32-1024-8-8@1000"."""
    task: str
    """Name of the task, such as cola."""
    filtered: bool
    """Whether only examples within the study's vocabulary are used."""
    random_init: bool
    """Whether this is the random-init baseline, without pre-training."""
    seed: int
    best: float | None
    """Main metric in percent after the best epoch (Deshpande et al. 2023, section 4.3); None if the run was stopped."""
    last: float | None
    """Main metric in percent after the last epoch."""
    stopped: str | None = None
    """Reason for an early stop, as a sentence; None if the run was not stopped."""


@dataclass(frozen=True)
class Findings:
    """All results of a study so far."""

    accounting: dict[str, Any]
    """Numbers of kept and examined texts, as written by `bitcipher study downscaling filter`."""
    tokenizers: tuple[dict[str, Any], ...]
    """Rows of the tokenizer selection: kind, size (None for a pre-trained tokenizer), ratio (word-split ratio), esms
    (exact sub-token matching score), chosen (bool)."""
    models: tuple[PretrainedModel, ...]
    scores: tuple[Score, ...]
    recipe: dict[str, Any]
    """Options of the study as run."""
    checkpoints: tuple[PretrainedModel, ...] = ()
    """Models as they were at earlier steps of pre-training, which were fine-tuned, too; without a test loss."""
