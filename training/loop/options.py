"""What can be chosen of a training run, whatever is trained."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError
from training.loop.schedule import SCHEDULES

PRECISIONS = ("auto", "float32", "bfloat16")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class LoopOptions:
    """Steps, batches, rates, and how often to look and to keep."""

    steps: int = 1000
    """Updates of the weights."""
    batch: int = 64
    """Sequences of an update, over all workers."""
    micro_batch: int | None = None
    """Sequences that are worked on at once; the whole batch divided by the workers if not given. It is the unit that
    workers share out, and has its own dropout: leave it the same to have the same run on other numbers of workers."""
    learning_rate: float = 1e-3
    """The highest rate of AdamW."""
    warmup: float = 0.05
    """Share of the steps over which the rate rises from zero."""
    schedule: str = "cosine"
    """How the rate falls after that: cosine, linear, inverse-square-root or constant."""
    final_rate: float = 0.1
    """Share of the highest rate that cosine and linear end with."""
    weight_decay: float = 0.01
    """Of matrices, not of biases, norms and embeddings."""
    beta1: float = 0.9
    """How long AdamW remembers gradients."""
    beta2: float = 0.98
    """How long it remembers their squares."""
    clip: float = 1.0
    """Longest gradient, over all weights together."""
    precision: str = "auto"
    """float32, bfloat16 (products only; weights stay float32), or auto: bfloat16 where a GPU has it."""
    device: str = "auto"
    """cpu, cuda, or auto: a GPU if there is one."""
    compile: bool = False
    """Compile the model first: a minute or more, for runs that are much longer. It needs a C++ compiler on CPUs."""
    log_every: int = 10
    """Steps between lines of loss in metrics.jsonl."""
    evaluate_every: int = 100
    """Steps between evaluations; there is one before the first step and one after the last too."""
    evaluate_sequences: int = 512
    """Held-out sequences of an evaluation, always the same ones."""
    checkpoint_every: int = 500
    """Steps between checkpoints; there is one after the last step too."""
    keep_checkpoints: int = 1
    """How many of the newest checkpoints to keep; 0 keeps all."""

    def __post_init__(self) -> None:
        """Refuse what cannot be trained with."""
        for name in ("steps", "batch", "log_every", "evaluate_every", "evaluate_sequences", "checkpoint_every"):
            _require(getattr(self, name) >= 1, f"{name} must be at least 1, not {getattr(self, name)}.")
        _require(
            self.micro_batch is None or (self.micro_batch >= 1 and self.batch % self.micro_batch == 0),
            f"A batch of {self.batch} sequences cannot be divided into micro-batches of {self.micro_batch}.",
        )
        _require(self.learning_rate > 0, f"The learning rate must be above 0, not {self.learning_rate}.")
        _require(0 <= self.warmup <= 1, f"The warm-up is a share of the steps from 0 to 1, not {self.warmup}.")
        _require(0 <= self.final_rate <= 1, f"The final rate is a share from 0 to 1, not {self.final_rate}.")
        _require(0 <= self.beta1 < 1 and 0 <= self.beta2 < 1, "beta1 and beta2 are from 0 to below 1.")
        _require(self.clip > 0, f"The longest gradient must be above 0, not {self.clip}.")
        _require(self.weight_decay >= 0, f"The weight decay must not be negative: {self.weight_decay}.")
        _require(self.keep_checkpoints >= 0, f"keep_checkpoints must not be negative: {self.keep_checkpoints}.")
        for value, known in (
            (self.schedule, tuple(SCHEDULES)),
            (self.precision, PRECISIONS),
            (self.device, DEVICES),
        ):
            _require(value in known, f"There is no {value!r} among {', '.join(known)}.")

    def micro_batch_on(self, workers: int) -> int:
        """Sequences of a micro-batch with so many workers.

        Raises:
            BitcipherError: if the batch cannot be shared out evenly.
        """
        size = self.micro_batch or self.batch // workers
        _require(
            size > 0 and self.batch % (size * workers) == 0,
            f"{workers} workers cannot share a batch of {self.batch} in micro-batches of {size or 1}: choose a batch "
            "that is a multiple of both.",
        )
        return size


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BitcipherError(message)
