"""All that a fine-tuning run depends on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bitcipher.errors import BitcipherError
from training.embeddings import EmbeddingInitOptions
from training.finetune.task_files import TASKS
from training.loop import LoopOptions
from training.settings import change, make_record

# As BERT is fine-tuned (Devlin et al. 2019, appendix A.3), apart from the rate, which is higher for models as small as
# those pre-trained here.
LOOP = {
    "batch": 32,
    "learning_rate": 1e-4,
    "warmup": 0.1,
    "schedule": "linear",
    "final_rate": 0.0,
    "beta2": 0.999,
    "evaluate_every": 500,
}
EPOCHS = 3.0


@dataclass(frozen=True)
class FinetuneOptions:
    """A fine-tuning run."""

    model: str
    """A run, or path or URI of a folder of transformers with a tokenizer.json."""
    task: str
    """A name of `TASKS`."""
    data: str
    """Path or URI of the folder with the task's files."""
    length: int | None = None
    """Tokens of a row at most; as many as the model reads if not given, and 384 at most."""
    epochs: float | None = EPOCHS
    """Passes over the rows of the task, which give the loop its steps; none to have `loop.steps`."""
    each_epoch: bool = False
    """Evaluate after each epoch, whatever `loop.evaluate_every` says."""
    vocabulary: str | None = None
    """Keep examples alone whose words are all in this file; of tasks of sentences."""
    random: bool = False
    """Start from random weights instead of the model's: its twin, to see what pre-training was good for."""
    embeddings: EmbeddingInitOptions = field(default_factory=EmbeddingInitOptions)
    """Whether the model's table is replaced by cipher vectors first, and when it is frozen."""
    loop: LoopOptions = field(default_factory=lambda: LoopOptions(**LOOP))
    seed: int = 1
    """Of the head, the order and dropout; of a random twin also of its weights."""

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        if self.task not in TASKS:
            raise BitcipherError(f"There is no task {self.task!r}: choose one of {', '.join(TASKS)}.")
        if self.length is not None and self.length < 1:
            raise BitcipherError(f"A row must have at least 1 token, not {self.length}.")
        if self.epochs is not None and self.epochs <= 0:
            raise BitcipherError(f"There must be more than {self.epochs:g} epochs.")
        if self.epochs is None and self.each_epoch:
            raise BitcipherError("A run of loop.steps has no epochs to evaluate after: leave out each_epoch.")
        if self.embeddings.start == "cipher" and self.embeddings.vectors is None:
            raise BitcipherError(
                "Vectors for fine-tuning are there already: give them by --set embeddings.vectors=FOLDER, "
                "a build with --tokenizer and the path of the model's tokenizer.json."
            )
        if self.embeddings.table_scale != 1 and self.embeddings.start == "cold":
            raise BitcipherError("The table of a pre-trained model keeps its scale: leave out embeddings.scale.")

    def loop_for(self, rows: int) -> LoopOptions:
        """The loop's options for a task with so many rows to train on."""
        if self.epochs is None:
            return self.loop
        every = math.ceil(rows / self.loop.batch) if self.each_epoch else self.loop.evaluate_every
        return replace(self.loop, steps=math.ceil(self.epochs * rows / self.loop.batch), evaluate_every=every)


def make_options(values: dict[str, Any], settings: Sequence[str] = ()) -> FinetuneOptions:
    """Options from plain values; the loop's defaults are those of fine-tuning, and steps that are given count.

    Args:
        values: options by group.
        settings: changes to them, such as "loop.learning_rate=3e-5"; the value is YAML.

    Raises:
        BitcipherError: if an option does not exist, or cannot have such a value, or there are both epochs and steps.
    """
    values = dict(values)
    for setting in settings:
        change(values, setting)
    loop = values.get("loop", {})
    if isinstance(loop, dict):
        if "steps" in loop:
            if values.setdefault("epochs", None) is not None:
                raise BitcipherError("Steps follow from epochs: give epochs or loop.steps, not both.")
        values["loop"] = LOOP | loop
    return make_record(FinetuneOptions, values, "Fine-tuning")
