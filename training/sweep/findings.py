"""What a study found: plain records that its runs are read into, and tables and figures are drawn from."""

from dataclasses import dataclass
from typing import Any

from training.scaling import Shape


@dataclass(frozen=True)
class Evaluation:
    """The loss on the development part after some steps."""

    step: int
    sequences: int
    """Trained on so far."""
    loss: float
    """Mean cross-entropy of masked tokens, in nats."""


@dataclass(frozen=True)
class PretrainedModel:
    """A model of the study, and how its training went."""

    name: str
    """Of its trial, such as "256-32-1024-8-8" or "256-32-1024-8-8-cipher"."""
    shape: Shape
    init: str
    """random, or cipher: what its table of tokens started from."""
    language: str
    """constrained, or unconstrained: the twin of text that nothing was filtered from."""
    vocabulary: int
    """Tokens of its tokenizer, on which parameters and FLOPs depend."""
    evaluations: tuple[Evaluation, ...]
    """In the order of steps, the one before the first step included."""
    test_loss: float | None
    """At the end, on the constrained test part, in nats; None for a model that did not end."""
    stopped: str | None = None
    """Why it was stopped before its end, as a sentence."""


@dataclass(frozen=True)
class Score:
    """How a fine-tuned model, or its random twin, did at a task."""

    model: str
    """The name of the pre-trained model."""
    task: str
    """Such as cola."""
    filtered: bool
    """Whether the task kept only examples in the study's vocabulary."""
    random_init: bool
    """Whether it is the random twin, with nothing pre-trained."""
    seed: int
    best: float | None
    """The task's main figure, in percent, after its best epoch (section 4.3); None for a run that was stopped."""
    last: float | None
    """The same after the last one."""
    stopped: str | None = None
    """Why it was stopped before its end, as a sentence."""


@dataclass(frozen=True)
class Findings:
    """All that a study found so far."""

    accounting: dict[str, Any]
    """Of the language, as `bitcipher filter` writes it."""
    tokenizers: tuple[dict[str, Any], ...]
    """Rows of the choice of a tokenizer: kind, size (None for a reference), ratio, esms, chosen."""
    models: tuple[PretrainedModel, ...]
    scores: tuple[Score, ...]
    recipe: dict[str, Any]
    """The study's options, as they were run."""
