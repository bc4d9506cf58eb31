"""One dial for the size of a study: how it shrinks, and how far it must to fit the time at hand."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError
from training.scaling import VOCABULARY, Shape
from training.sweep.options import Study
from training.sweep.trials import finetuning_trials, pretraining_trials, select_shapes

# Fewer sequences, and a model's curve is that of its cipher-up.
_FEWEST_STEPS = 100
# Evaluations of a curve, from which compute-optimal points are chosen.
_EVALUATIONS = 20
# Fewer shapes do not make a curve.
_FEWEST_SHAPES = 5
# Fewer tokens than this, and a byte-level tokenizer knows letters alone.
_SMALLEST_VOCABULARY = 1000
# Seconds that a trial takes besides its steps: reading, encoding, its last evaluation.
_START = 3.0
# Examples that GLUE's tasks have to train on, as published.
_ROWS = {"cola": 8551, "sst2": 67_349, "mrpc": 3668, "stsb": 5749, "qnli": 104_743, "rte": 2490, "wnli": 635}
# The search for a scale goes down from 1 by this power of two, then halves that step so often.
_STEP, _HALVINGS = 0.125, 10
# The smallest scale that is tried, as a power of two: about a ten-thousandth of the study.
_LEAST = -13.0


@dataclass(frozen=True)
class Speed:
    """What this machine trains with, measured on a few steps."""

    flops_per_second: float
    """Of one trial, by `computed_flops`."""
    step_seconds: float
    """What a step takes whatever the model's size."""
    max_concurrent_trials: int
    """Trials at once."""


def scale_study(study: Study, scale: float) -> Study:
    """The study with fewer sequences, tokens, shapes and seeds.

    Sequences shrink with the scale. Batches are halved, down to 16, while there would be fewer than ten times as many
    steps as sequences in a batch. Tokens, shapes and seeds shrink by the scale's fourth root, for a law shows only over
    many of them. Nothing is more than in the whole study. A choice among tokenizers keeps its sizes.

    Args:
        study: as it is.
        scale: 1 for the whole study, 0.01 for a hundredth of its sequences.

    Raises:
        BitcipherError: if the scale is not above 0 and at most 1.
    """
    if not 0 < scale <= 1:
        raise BitcipherError(f"The scale of a study is above 0 and at most 1, not {scale:g}.")
    if scale == 1:
        return study
    loop, root = study.pretraining.loop, scale**0.25
    sequences = loop.max_steps * loop.batch_size * scale
    batch = loop.batch_size
    # Micro-batches divide the batch, and keep their size.
    while batch > 16 and batch % (2 * (loop.micro_batch_size or 1)) == 0 and sequences / batch < 10 * batch:
        batch //= 2
    steps = max(min(_FEWEST_STEPS, loop.max_steps), round(sequences / batch))
    every = max(1, steps // _EVALUATIONS)
    downstream = study.downstream
    size, count = study.tokenizer.vocab_size, len(select_shapes(study, VOCABULARY))
    return study.copy_with(
        tokenizer=study.tokenizer.copy_with(vocab_size=_between(_SMALLEST_VOCABULARY, size * root, size)),
        shapes=study.shapes.copy_with(max_shapes=max(2, _between(_FEWEST_SHAPES, count * root, count))),
        pretraining=study.pretraining.copy_with(
            loop=loop.copy_with(max_steps=steps, batch_size=batch, eval_steps=every, save_steps=every * 5),
        ),
        downstream=downstream.copy_with(seeds=_between(2, downstream.seeds * root, downstream.seeds)),
    )


def computed_flops(study: Study, shape: Shape, vocabulary: int) -> int:
    """FLOPs of a training sequence that take time: a head works on masked tokens alone, and a table is only looked up.

    What is published counts both for all tokens as full products, which for the smallest models is most of it.

    Args:
        study: whose length of sequences and share of masked tokens are taken.
        shape: of the model.
        vocabulary: tokens.
    """
    wanted = study.pretraining
    return shape.flops_published(max(1, round(wanted.mlm_probability * vocabulary)), wanted.max_position_embeddings)


def estimate_seconds(study: Study, speed: Speed) -> float:
    """How long a study takes, about: pre-training with its evaluations and fine-tuning, reading the corpus aside.

    Fine-tuning is taken as if no example were left out by the vocabulary and all were as long as sequences, so that it
    takes less rather than more.
    """
    tokens, length = study.tokenizer.vocab_size, study.pretraining.max_position_embeddings
    loop, tuning = study.pretraining.loop, study.downstream
    models = pretraining_trials(study, tokens)
    shapes = {trial.name: trial.shape for trial in models}

    def training(steps: float, batch: int, flops: int) -> float:
        return steps * (speed.step_seconds + batch * flops / speed.flops_per_second)

    # An evaluation goes forward alone, a third of a step's work.
    looks = (loop.max_steps / loop.eval_steps + 1) * loop.eval_sequences / loop.batch_size / 3
    pretraining = sum(
        _START + training(loop.max_steps + looks, loop.batch_size, computed_flops(study, shape, tokens))
        for shape in shapes.values()
    )
    finetuning = sum(
        # A task's head has a few outputs in place of all tokens.
        _START
        + training(
            tuning.num_train_epochs * _ROWS[trial.task] / tuning.batch_size,
            tuning.batch_size,
            shapes[trial.model].flops_published(1, length),
        )
        for trial in finetuning_trials(study, models)
    )
    return (pretraining + finetuning) / speed.max_concurrent_trials


def fit_budget(study: Study, seconds: float, speed: Speed) -> Study:
    """The largest study of its kind that fits into so many seconds, to a part in a thousand or so of its scale.

    Half a batch has twice as many steps, so a smaller study may take longer than a larger one: scales are tried from 1
    down, until one fits.

    Raises:
        BitcipherError: if even the smallest one does not.
    """

    def fits(power: float) -> bool:
        return estimate_seconds(scale_study(study, 2**power), speed) <= seconds

    low = 0.0
    while not fits(low):
        low -= _STEP
        if low < _LEAST:
            least = estimate_seconds(scale_study(study, 2**_LEAST), speed)
            raise BitcipherError(
                f"The smallest study takes about {least / 60:,.1f} minutes here, more than {seconds / 60:,.1f}: give "
                "more time, or choose less by shapes.largest, downstream.tasks or downstream.max_models."
            )
    high = low + _STEP
    for _ in range(_HALVINGS if low < 0 else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return scale_study(study, 2**low)


def _between(least: int, value: float, most: int) -> int:
    """The value as a whole number, not below the least, and never above the most."""
    return min(most, max(least, round(value)))
