"""Scale of a study: scaling down, time estimates, and the largest study that fits a time."""

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from training.studies.downscaling.scaling.shape import VOCABULARY, Shape
from training.studies.downscaling.sweep.options import Study
from training.studies.downscaling.sweep.trials import finetuning_trials, pretraining_trials, select_shapes
from training.studies.downscaling.tokenizer_selection.choose_tokenizer import ChoiceOptions

# With fewer steps, a curve shows the warmup only.
_MIN_STEPS = 100
# Number of evaluations per curve, the candidates for compute-optimal points.
_EVALUATIONS = 20
# Minimum number of shapes for a curve.
_MIN_SHAPES = 5
# With fewer tokens, a byte-level tokenizer has few tokens besides the bytes.
_MIN_VOCABULARY = 1000
# Seconds of a trial besides its steps: reading, encoding, the last evaluation.
_TRIAL_SECONDS = 3.0
# Numbers of training examples of GLUE's tasks, as published.
_TRAINING_ROWS = {"cola": 8551, "sst2": 67_349, "mrpc": 3668, "stsb": 5749, "qnli": 104_743, "rte": 2490, "wnli": 635}
_TRAINING_ROWS |= {"qqp": 363_846, "mnli": 392_702, "mnli-mm": 392_702}
# The search for a scale 2**exponent decreases the exponent from 0 in steps of `_EXPONENT_STEP`, until the study fits.
# Then it bisects the last step `_BISECTIONS` times.
_EXPONENT_STEP, _BISECTIONS = 0.125, 10
# Exponent of the smallest scale, about a ten-thousandth of the study.
_MIN_EXPONENT = -13.0


class Speed(Record):
    """Training speed of the machine, measured on a few steps; stored in `study.json`."""

    flops_per_second: float = Field(gt=0, allow_inf_nan=False)
    """FLOPs per second of one trial, counted by `flops_spent`."""
    step_seconds: float = Field(ge=0, allow_inf_nan=False)
    """Constant part of the seconds of a step, which does not depend on the model's size."""
    max_concurrent_trials: int = Field(ge=1)
    """Maximum number of trials that run at the same time; 1 if trials are sequential."""


def scale_study(study: Study, scale: float) -> Study:
    """Return the study with fewer sequences, tokens, shapes and seeds.

    The number of sequences is proportional to the scale. The batch size is halved, down to 16, until the number of
    steps is ten times the batch size. The numbers of tokens, shapes and seeds shrink with the fourth root of the scale,
    because a power law is visible only over a range of sizes. No number exceeds that of the full study. The candidate
    sizes of the tokenizer selection do not change.

    Args:
        study: full study.
        scale: fraction of the sequences; 1 is the full study.

    Raises:
        BitcipherError: if the scale is not above 0 and at most 1.
    """
    if not 0 < scale <= 1:
        raise BitcipherError(f"`--scale` must be above 0 and at most 1, got {scale:g}.")
    if scale == 1:
        return study
    loop, root = study.pretraining.loop, scale**0.25
    sequences = loop.max_steps * loop.batch_size * scale
    batch = loop.batch_size
    # The micro-batch size does not change, and must divide the batch size.
    while batch > 16 and batch % (2 * (loop.micro_batch_size or 1)) == 0 and sequences / batch < 10 * batch:
        batch //= 2
    steps = max(min(_MIN_STEPS, loop.max_steps), round(sequences / batch))
    eval_steps = max(1, steps // _EVALUATIONS)
    downstream = study.downstream
    size, count = study.tokenizer.vocab_size, len(select_shapes(study, VOCABULARY))
    return study.copy_with(
        tokenizer=study.tokenizer.copy_with(vocab_size=_between(_MIN_VOCABULARY, size * root, size)),
        shapes=study.shapes.copy_with(max_shapes=max(2, _between(_MIN_SHAPES, count * root, count))),
        pretraining=study.pretraining.copy_with(
            loop=loop.copy_with(max_steps=steps, batch_size=batch, eval_steps=eval_steps, save_steps=eval_steps * 5),
        ),
        downstream=downstream.copy_with(seeds=_between(2, downstream.seeds * root, downstream.seeds)),
    )


def flops_spent(study: Study, shape: Shape, vocabulary: int) -> float:
    """Return the FLOPs that a training sequence of a study really takes.

    Args:
        study: study with the sequence length and the fraction of masked tokens.
        shape: shape of the model.
        vocabulary: number of tokens of the vocabulary.
    """
    length = study.pretraining.max_position_embeddings
    return shape.flops_spent(study.pretraining.mlm_probability * length, vocabulary, length)


def estimate_seconds(study: Study, speed: Speed) -> float:
    """Return the approximate time of a study: pre-training, evaluations and fine-tuning, without reading the corpus.

    The estimate of fine-tuning is an upper bound, because it assumes that no example is filtered out and that all
    examples have the full length.
    """
    tokens, length = _max_vocabulary(study), study.pretraining.max_position_embeddings
    loop, tuning = study.pretraining.loop, study.downstream
    models = pretraining_trials(study, tokens)
    shapes = {trial.name: trial.shape for trial in models}

    def training(steps: float, batch: int, flops: float) -> float:
        return steps * (speed.step_seconds + batch * flops / speed.flops_per_second)

    # An evaluation has a forward pass only, a third of the work of a step.
    evaluations = (loop.max_steps / loop.eval_steps + 1) * loop.eval_sequences / loop.batch_size / 3
    pretraining = sum(
        _TRIAL_SECONDS + training(loop.max_steps + evaluations, loop.batch_size, flops_spent(study, shape, tokens))
        for shape in shapes.values()
    )
    finetuning = sum(
        # The head of a task has a few outputs, so no token is predicted.
        _TRIAL_SECONDS
        + training(
            tuning.num_train_epochs * _TRAINING_ROWS[trial.task] / tuning.batch_size,
            tuning.batch_size,
            shapes[trial.model].flops_spent(0, tokens, length),
        )
        for trial in finetuning_trials(study, models)
    )
    return (pretraining + finetuning) / speed.max_concurrent_trials


def fit_budget(study: Study, seconds: float, speed: Speed) -> Study:
    """Return the largest scaled-down study that fits into a time, with a scale accurate to about 0.1 %.

    Half the batch size means twice the steps, so a smaller study can take longer than a larger one. Scales are
    therefore tried in decreasing order until the study fits.

    Args:
        study: full study.
        seconds: time budget.
        speed: training speed of the machine.

    Raises:
        BitcipherError: if even the smallest study does not fit.
    """

    def fits(exponent: float) -> bool:
        return estimate_seconds(scale_study(study, 2**exponent), speed) <= seconds

    low = 0.0
    while not fits(low):
        low -= _EXPONENT_STEP
        if low < _MIN_EXPONENT:
            least = estimate_seconds(scale_study(study, 2**_MIN_EXPONENT), speed)
            raise BitcipherError(
                f"The smallest study takes about {least / 60:,.1f} minutes, more than {seconds / 60:,.1f}; give "
                "more time, or reduce it with shapes.largest, downstream.tasks or downstream.max_models."
            )
    high = low + _EXPONENT_STEP
    for _ in range(_BISECTIONS if low < 0 else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return scale_study(study, 2**low)


def _max_vocabulary(study: Study) -> int:
    """Return the number of tokens of the tokenizer, or of the largest candidate if the study chooses one of several."""
    if not study.choice:
        return study.tokenizer.vocab_size
    sizes = ChoiceOptions.parse(study.choice, "The study's choice").sizes.values()
    return max((size for each in sizes for size in each), default=study.tokenizer.vocab_size)


def _between(least: int, value: float, most: int) -> int:
    """Return the value, rounded and clipped to [least, most]; `most` takes precedence if it is below `least`."""
    return min(most, max(least, round(value)))
