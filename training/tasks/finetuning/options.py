"""Options of a fine-tuning run."""

import copy
import math
from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Float, Record
from bitcipher.files.settings import apply_settings
from training.loop.options import LoopOptions
from training.models.embeddings.options import EmbeddingInitOptions
from training.tasks.finetuning.task_files import SENTENCE_CLASSES, TASKS

# Values of BERT (Devlin et al. 2019, appendix A.3), except for the learning rate, which is higher because the models
# that are pre-trained here are small.
LOOP_DEFAULTS = {
    "batch_size": 32,
    "learning_rate": 1e-4,
    "warmup_steps": 0.1,
    "lr_scheduler_type": "linear",
    "min_lr_ratio": 0.0,
    "adam_beta2": 0.999,
    "eval_steps": 500,
    "eval_on_start": False,
}


class FinetuneOptions(Record):
    """Options of a fine-tuning run."""

    model: str
    """Pre-trained model: folder of a run of `bitcipher train`, or path or URI of a transformers folder with a
    tokenizer.json."""
    step: int | None = Field(None, ge=0)
    """Step of the checkpoint of the run to fine-tune; null: its model, the best with early stopping, else the last."""
    task: str
    """Name of the task: one of `TASKS`."""
    data: str
    """Path or URI of the folder with the task's files."""
    max_seq_length: int | None = Field(None, ge=1)
    """Maximum number of tokens per row; by default the limit of the model, at most 384. Only a ModernBERT can be given
    more tokens than its limit."""
    num_train_epochs: Float | None = Field(3.0, gt=0)
    """Number of passes over the training rows, from which `loop.max_steps` is computed; null: `loop.max_steps` is used
    as it is set."""
    eval_each_epoch: bool = False
    """Evaluate after each epoch, instead of every `loop.eval_steps` steps."""
    vocabulary: str | None = None
    """File of words, for GLUE only: examples with other words are not used."""
    random_init: bool = False
    """Start from random weights instead of the model's, as a baseline without pre-training."""
    classifier_pooling: Literal["cls", "mean"] | None = None
    """For sentences and a ModernBERT: the head reads the state of the first token (cls), or the mean of the states of
    all tokens (mean); null: as in the model's config.json, which has cls by default."""
    svsl_weight: Float | None = Field(None, gt=0)
    """For tasks with classes of sentences: weight α of the squared distances of hidden states from their class means,
    which are added to the loss (see `training.tasks.finetuning.svsl`); null adds none."""
    svsl_first_layer: int = Field(1, ge=0)
    """With `svsl_weight`: first layer γ whose hidden states are compared; 0 for the embeddings."""
    embeddings: EmbeddingInitOptions = EmbeddingInitOptions()
    """Replacement of the token embeddings with cipher vectors, and the steps in which they are frozen."""
    loop: LoopOptions = LoopOptions(**LOOP_DEFAULTS)
    seed: int = 1
    """Seed of the head, the order of the rows and dropout, and with `random_init` of all weights."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.task not in TASKS:
            raise ValueError(f"`task` must be one of {', '.join(TASKS)}, got {self.task!r}.")
        if self.svsl_weight is not None and self.task not in SENTENCE_CLASSES:
            raise ValueError(f"`svsl_weight` needs classes of sentences ({', '.join(SENTENCE_CLASSES)}); leave it out.")
        if self.svsl_weight is None and self.svsl_first_layer != 1:
            raise ValueError("`svsl_first_layer` needs `svsl_weight`; set it, too.")
        if self.loop.fsdp:
            raise ValueError("`loop.fsdp` is for pre-training only; leave it out.")
        if self.num_train_epochs is None and self.eval_each_epoch:
            raise ValueError("`eval_each_epoch` needs `num_train_epochs`; leave it out or set the number of epochs.")
        if self.num_train_epochs is not None and self.loop.initial_batch_size is not None:
            raise ValueError(
                "`loop.initial_batch_size` needs `loop.max_steps`, because `num_train_epochs` gives steps of equal "
                "batches; set it, or leave out `loop.initial_batch_size`."
            )
        if self.embeddings.init == "cipher" and self.embeddings.vectors is None:
            raise ValueError(
                "`embeddings.vectors` is missing; give a build that was made with --tokenizer and the path of the "
                "model's tokenizer.json. Fine-tuning does not build vectors."
            )
        if self.embeddings.init == "random" and self.embeddings.effective_scale != 1:
            raise ValueError(
                "`embeddings.scale` needs `embeddings.init` to be cipher, because fine-tuning keeps the embeddings of "
                "the model; leave it out."
            )
        return self

    def loop_for(self, n_rows: int) -> LoopOptions:
        """Return the options of the loop for the given number of training rows."""
        if self.num_train_epochs is None:
            return self.loop
        batch_size = self.loop.batch_size
        eval_steps = math.ceil(n_rows / batch_size) if self.eval_each_epoch else self.loop.eval_steps
        max_steps = math.ceil(self.num_train_epochs * n_rows / batch_size)
        return self.loop.copy_with(max_steps=max_steps, eval_steps=eval_steps)


def make_finetune_options(values: dict[str, Any], settings: Sequence[str] = ()) -> FinetuneOptions:
    """Return fine-tuning options from plain values, with `LOOP_DEFAULTS` for the loop.

    Args:
        values: options by group.
        settings: changes, such as "loop.learning_rate=3e-5"; values are YAML.

    Raises:
        BitcipherError: if an option does not exist or is invalid, or both epochs and steps are set.
    """
    values = copy.deepcopy(values)
    source = apply_settings(values, "Fine-tuning", settings)
    loop = values.get("loop", {})
    if isinstance(loop, dict):
        if "max_steps" in loop and values.setdefault("num_train_epochs", None) is not None:
            raise BitcipherError("`num_train_epochs` and `loop.max_steps` exclude each other; set one of them.")
        values["loop"] = LOOP_DEFAULTS | loop
    return FinetuneOptions.parse(values, source)
