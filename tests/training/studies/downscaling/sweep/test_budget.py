"""Scaled-down studies, time estimates, and studies that fit a time."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.studies.downscaling.sweep.budget import Speed, estimate_seconds, fit_budget, scale_study
from training.studies.downscaling.sweep.options import find_study, make_study, read_study
from training.studies.downscaling.sweep.trials import finetuning_trials, pretraining_trials, select_shapes

PAPER = read_study(find_study("downscaling"), ["downstream.glue=/glue"])
SMALL = read_study(find_study("downscaling-small"), ["downstream.glue=/glue"])
TINY = make_study(
    {
        "shapes": {"sets": [], "names": ["8-8-16-1-1"]},
        "tokenizer": {"vocab_size": 300},
        "pretraining": {"loop": {"max_steps": 20, "batch_size": 4}},
        "downstream": {"seeds": 1},
    },
    "test",
)
STUDIES = [PAPER, SMALL, TINY]
scales = st.floats(1e-4, 1)


def speed_of(flops_per_second, step_seconds, max_concurrent_trials):
    return Speed(
        flops_per_second=flops_per_second, step_seconds=step_seconds, max_concurrent_trials=max_concurrent_trials
    )


def sizes(study):
    loop = study.pretraining.loop
    shapes = len(select_shapes(study, study.tokenizer.vocab_size))
    return loop.max_steps * loop.batch_size, study.tokenizer.vocab_size, shapes, study.downstream.seeds, loop.batch_size


@pytest.mark.parametrize("study", STUDIES, ids=["paper", "small", "tiny"])
@given(pair=st.tuples(scales, scales).map(sorted))
@settings(max_examples=15)
def test_smaller_scale_never_increases_a_size(study, pair):
    less, more = (sizes(scale_study(study, scale)) for scale in pair)
    assert all(a <= b for a, b in zip(less, more, strict=True))
    assert all(a <= b for a, b in zip(more, sizes(study), strict=True))


@given(scale=scales)
@settings(max_examples=15)
def test_scaled_study_respects_minima(scale):
    study = scale_study(PAPER, scale)
    assert study == scale_study(PAPER, scale)
    loop = study.pretraining.loop
    assert loop.max_steps >= 100
    assert loop.batch_size >= 16
    # There are ten times as many steps as sequences per batch, unless the batch size is minimal.
    assert loop.max_steps >= 10 * loop.batch_size - 1 or loop.batch_size == 16
    assert loop.max_steps // loop.eval_steps >= 20
    assert 1000 <= study.tokenizer.vocab_size <= 19_000
    assert len(select_shapes(study, study.tokenizer.vocab_size)) >= 5
    assert study.downstream.seeds >= 2


@pytest.mark.parametrize("study", STUDIES, ids=["paper", "small", "tiny"])
def test_scale_1_returns_study(study):
    assert scale_study(study, 1) == study


def test_sequences_are_proportional_to_scale():
    study = scale_study(PAPER, 0.01)
    loop = study.pretraining.loop
    assert loop.max_steps * loop.batch_size == pytest.approx(35_475 * 256 / 100, rel=1e-3)
    assert study.tokenizer.vocab_size == round(19_000 * 0.01**0.25)
    assert len(select_shapes(study, 6008)) == round(65 * 0.01**0.25)
    assert study.pretraining.copy_with(loop=PAPER.pretraining.loop) == PAPER.pretraining
    assert (study.language, study.downstream.tasks) == (PAPER.language, PAPER.downstream.tasks)


def test_inits_and_languages_do_not_count_as_shapes():
    both = PAPER.copy_with(pretraining=PAPER.pretraining.copy_with(inits=("random", "cipher"), unconstrained=True))
    assert scale_study(both, 0.01).shapes == scale_study(PAPER, 0.01).shapes


def test_scaled_batch_size_is_multiple_of_micro_batch_size():
    loop = PAPER.pretraining.loop.copy_with(micro_batch_size=64)
    study = scale_study(PAPER.copy_with(pretraining=PAPER.pretraining.copy_with(loop=loop)), 0.001)
    assert study.pretraining.loop.batch_size == 64


@pytest.mark.parametrize("scale", [0, -1, 1.5, math.nan])
def test_invalid_scale_raises(scale):
    with pytest.raises(BitcipherError, match="--scale"):
        scale_study(PAPER, scale)


def test_estimated_seconds_are_summed_over_trials():
    study = make_study(
        {
            "shapes": {"sets": ["smallest"]},
            "tokenizer": {"vocab_size": 2000},
            "pretraining": {
                "inits": ["random", "cipher"],
                "max_position_embeddings": 64,
                "loop": {"max_steps": 300, "batch_size": 16, "eval_steps": 100, "eval_sequences": 128},
            },
            "downstream": {
                "glue": "/glue",
                "tasks": ["rte", "wnli"],
                "seeds": 2,
                "num_train_epochs": 2,
                "batch_size": 8,
            },
        },
        "test",
    )
    speed = Speed(flops_per_second=2e9, step_seconds=0.004, max_concurrent_trials=3)
    expected = 0.0
    for trial in pretraining_trials(study, 2000):
        # The head is computed for 15 % of the tokens. Four evaluations of 8 batches have only forward passes.
        steps = 300 + 4 * 8 / 3
        expected += 3 + steps * 0.004 + steps * 16 * trial.shape.flops_spent(0.15 * 64, 2000, 64) / 2e9
        for tuned in finetuning_trials(study, [trial]):
            rows = 2 * {"rte": 2490, "wnli": 635}[tuned.task]
            expected += 3 + rows / 8 * 0.004 + rows * trial.shape.flops_spent(0, 2000, 64) / 2e9
    assert estimate_seconds(study, speed) == pytest.approx(expected / 3)


def test_estimate_assumes_the_largest_candidate_tokenizer():
    speed = speed_of(1e9, 0.0, 1)
    choice = {"sizes": {"bpe": [500, 30_000], "unigram": [1000]}, "references": {"bpe": "a", "unigram": "b"}}
    chosen, fixed = (
        SMALL.copy_with(tokenizer=SMALL.tokenizer.copy_with(vocab_size=size), choice=choice if size == 400 else {})
        for size in (400, 30_000)
    )
    assert estimate_seconds(chosen, speed) == estimate_seconds(fixed, speed)


@pytest.mark.parametrize("study", [PAPER.copy_with(shapes=SMALL.shapes), SMALL], ids=["paper", "small"])
@pytest.mark.parametrize("speed", [speed_of(2e10, 0.002, 1), speed_of(1e15, 0.02, 8)], ids=["core", "steps alone"])
@pytest.mark.parametrize("share", [0.9, 0.5])
def test_fit_budget_returns_nearly_largest_study(study, speed, share):
    # A time between those of the smallest and of the full study.
    least, whole = estimate_seconds(scale_study(study, 2**-13), speed), estimate_seconds(study, speed)
    seconds = least ** (1 - share) * whole**share
    fitted = fit_budget(study, seconds, speed)
    assert estimate_seconds(fitted, speed) <= seconds
    assert fitted == fit_budget(study, seconds, speed)
    # No other scale that fits is larger by more than a step of the search.
    others = (scale_study(study, 2 ** (-13 * step / 100)) for step in range(100))
    best = next((sizes(each)[0] for each in others if estimate_seconds(each, speed) <= seconds), 0)
    assert sizes(fitted)[0] >= 2**-0.125 * best


def test_fit_budget_returns_full_study_if_it_fits():
    assert fit_budget(SMALL, 1e9, speed_of(1e10, 0.01, 1)) is SMALL


def test_too_short_budget_raises():
    speed = speed_of(1e9, 0.01, 1)
    with pytest.raises(BitcipherError) as error:
        fit_budget(SMALL, 60, speed)
    least = estimate_seconds(scale_study(SMALL, 2**-13), speed) / 60
    assert f"about {least:,.1f} minutes, more than 1.0" in str(error.value)
