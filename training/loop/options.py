"""Options of the training loop. Names follow `transformers.TrainingArguments`."""

import math
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import FROM_LIST, Float, Record

TrackerName = Literal["tensorboard", "wandb", "mlflow"]
# Files of a tracker are in a folder of its name in the folder of the run.
TRACKERS: tuple[TrackerName, ...] = get_args(TrackerName)


class LoopOptions(Record):
    """Steps, batches, optimizer, learning rate, and intervals of evaluations and checkpoints."""

    max_steps: int = Field(1000, ge=1)
    """Number of updates of the weights."""
    batch_size: int = Field(64, ge=1)
    """Number of sequences per update, over all workers."""
    initial_batch_size: int | None = Field(None, ge=1)
    """Number of sequences of the first update, a divisor of `batch_size`: the batch grows to `batch_size` in steps of
    this size. By default, it is constant."""
    batch_ramp_steps: Float = Field(0.2, gt=0)
    """With `initial_batch_size`: number of steps after which the batch has `batch_size` sequences; a value below 1 is a
    fraction of `max_steps`."""
    micro_batch_size: int | None = Field(None, ge=1)
    """Number of sequences per forward pass; by default the smallest batch divided by the number of workers. Dropout is
    drawn per micro-batch, so keep this size to reproduce a run with another number of workers."""
    learning_rate: Float = Field(1e-3, gt=0)
    """Peak learning rate of AdamW."""
    warmup_steps: Float = Field(0.05, ge=0)
    """Number of steps over which the learning rate rises linearly from 0; a value below 1 is a fraction of
    `max_steps`."""
    lr_scheduler_type: Literal["cosine", "linear", "inverse_sqrt", "constant_with_warmup", "warmup_stable_decay"] = (
        "cosine"
    )
    """Learning-rate schedule after the warmup: cosine, linear, inverse_sqrt, constant_with_warmup, or
    warmup_stable_decay, which is constant and then decays linearly."""
    decay_steps: Float = Field(0.2, gt=0)
    """With `warmup_stable_decay`: number of steps of the decay at the end of the run; a value below 1 is a fraction
    of `max_steps`."""
    min_lr_ratio: Float = Field(0.1, ge=0, lt=1)
    """Final learning rate of `cosine`, `linear` and `warmup_stable_decay`, as a fraction of the peak."""
    scale_parameter: bool = False
    """Multiply the learning rate of each weight by the weight's root mean square, as Adafactor does. A T5 learns much
    faster with it, at rates near 0.01."""
    weight_decay: Float = Field(0.01, ge=0)
    """Weight decay of matrices; biases, norms and embeddings have none."""
    adam_beta1: Float = Field(0.9, ge=0, lt=1)
    """AdamW's decay rate of the first moment."""
    adam_beta2: Float = Field(0.98, ge=0, lt=1)
    """AdamW's decay rate of the second moment."""
    max_grad_norm: Float = Field(1.0, gt=0)
    """Maximum norm of the gradient over all weights; larger gradients are clipped."""
    precision: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """`float32`; `bfloat16` or `float16` for autocast with float32 weights; or `auto`: bfloat16 on GPUs that support
    it, float16 on older ones, float32 on CPUs."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`cpu`, `cuda`, or `auto`: a GPU if there is one."""
    compile: bool = False
    """Compile the model with torch.compile. Compilation takes a minute or more, and needs a C++ compiler on CPUs."""
    activation_checkpointing: bool = False
    """Compute the activations of each layer again in the backward pass instead of keeping them, which takes more time
    and less memory."""
    max_logits: int | None = Field(None, ge=1)
    """Maximum number of logits in memory at the same time; by default 2^24 on CPUs (64 MiB) and 2^28 on GPUs (1 GiB).
    Fewer take less memory, and more time on GPUs."""
    fsdp: bool = False
    """With several workers, distribute the weights of the layers, their gradients and AdamW's state over the workers
    (FSDP), for models that do not fit in the memory of one device."""
    peak_tflops: Float | None = Field(None, gt=0)
    """Peak of a worker's device in TFLOP/s (10¹² per second) at `precision`, for the utilization in the metrics; by
    default the bfloat16 peak of known GPUs. Without a peak, the metrics have no utilization."""
    logging_steps: int = Field(10, ge=1)
    """Number of steps between two training losses in metrics.jsonl."""
    report_to: Annotated[tuple[TrackerName, ...], FROM_LIST] = ("tensorboard",)
    """Trackers that show the metrics of metrics.jsonl: any of tensorboard, wandb and mlflow; [] for none."""
    eval_steps: int = Field(100, ge=1)
    """Number of steps between two evaluations. The model is also evaluated after the last step."""
    eval_on_start: bool = True
    """Evaluate before the first step, too."""
    eval_sequences: int = Field(512, ge=1)
    """Maximum number of validation sequences per evaluation; every evaluation uses the same sequences."""
    early_stopping_patience: int | None = Field(None, ge=1)
    """Stop after this number of evaluations in a row in which the validation loss did not improve, and use the
    checkpoint with the lowest loss. By default, train for `max_steps` and use the last checkpoint."""
    early_stopping_threshold: Float = Field(0.0, ge=0)
    """With `early_stopping_patience`: the validation loss has improved if it is lower than the lowest one before by
    more than this value."""
    save_steps: int = Field(500, ge=1)
    """Number of steps between two checkpoints. A checkpoint is also saved after the last step."""
    save_total_limit: int | None = Field(2, ge=1)
    """Number of the latest checkpoints to keep; null keeps all. With two, a run survives damage to the latest. With
    `early_stopping_patience`, the best one is kept, too."""

    @model_validator(mode="after")
    def _check(self) -> "LoopOptions":
        if self.batch_size % self._smallest_batch:
            raise ValueError(
                f"`loop.batch_size` must be a multiple of `loop.initial_batch_size`, got {self.batch_size} and "
                f"{self.initial_batch_size}."
            )
        if self.micro_batch_size is not None and self._smallest_batch % self.micro_batch_size:
            name = "batch_size" if self.initial_batch_size is None else "initial_batch_size"
            raise ValueError(
                f"`loop.{name}` must be a multiple of `loop.micro_batch_size`, got {self._smallest_batch} and "
                f"{self.micro_batch_size}."
            )
        if self.initial_batch_size is not None and self.n_batch_ramp_steps > self.max_steps:
            raise ValueError(
                f"`loop.batch_ramp_steps` is {self.n_batch_ramp_steps} steps, more than the {self.max_steps} steps of "
                "`loop.max_steps`; lower it."
            )
        is_stable = self.lr_scheduler_type == "warmup_stable_decay"
        if is_stable and self.n_warmup_steps + self.n_decay_steps > self.max_steps:
            raise ValueError(
                f"`loop.warmup_steps` and `loop.decay_steps` are {self.n_warmup_steps} and {self.n_decay_steps} steps, "
                f"more than the {self.max_steps} steps of `loop.max_steps`; lower one of them."
            )
        if self.early_stopping_threshold and self.early_stopping_patience is None:
            raise ValueError("`loop.early_stopping_threshold` needs `loop.early_stopping_patience`; set it, too.")
        return self

    @property
    def n_warmup_steps(self) -> int:
        """Number of warmup steps."""
        return self._as_steps(self.warmup_steps)

    @property
    def n_decay_steps(self) -> int:
        """Number of steps of the decay of `warmup_stable_decay`."""
        return self._as_steps(self.decay_steps)

    @property
    def n_batch_ramp_steps(self) -> int:
        """Number of steps after which the batch has its full size."""
        return self._as_steps(self.batch_ramp_steps)

    @property
    def _smallest_batch(self) -> int:
        return self.initial_batch_size or self.batch_size

    def count_sequences(self, steps: int) -> int:
        """Return the number of sequences in the first `steps` updates, over all workers.

        >>> loop = LoopOptions(batch_size=24, initial_batch_size=8, batch_ramp_steps=4)
        >>> [loop.batch_size_at(step) for step in range(6)]
        [8, 8, 16, 16, 24, 24]
        >>> loop.count_sequences(5)
        72
        """
        increments = self.batch_size // self._smallest_batch - 1
        # Step at which the batch grows for the j-th time.
        growths = (math.ceil(j * self.n_batch_ramp_steps / increments) for j in range(1, increments + 1))
        return self._smallest_batch * (steps + sum(max(0, steps - growth) for growth in growths))

    def batch_size_at(self, step: int) -> int:
        """Return the number of sequences of an update, over all workers; steps count from 0."""
        return self.count_sequences(step + 1) - self.count_sequences(step)

    def micro_batch_size_for(self, n_workers: int) -> int:
        """Return the micro-batch size for the given number of workers.

        Raises:
            BitcipherError: if the batch cannot be split evenly.
        """
        batch = self._smallest_batch
        size = self.micro_batch_size or batch // n_workers
        if size == 0 or batch % (size * n_workers):
            name = "batch_size" if self.initial_batch_size is None else "initial_batch_size"
            raise BitcipherError(
                f"{n_workers} workers cannot split a batch of {batch} sequences into micro-batches of {size or 1}; set "
                f"`loop.{name}` to a multiple of both."
            )
        return size

    def _as_steps(self, value: float) -> int:
        return math.ceil(value * self.max_steps) if value < 1 else int(value)
