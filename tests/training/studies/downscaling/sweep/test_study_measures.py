"""Quantities derived from findings: gains over random-init baselines, steps to a loss, power laws and breaks."""

import math
from dataclasses import replace
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_findings import COEFFICIENT, EXPONENT, STEPS, begun_study, loss_at, made_model, made_scores, whole_study

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.frontier import compute_optimal
from training.studies.downscaling.scaling.shapes import ANCHOR, set_1, smallest
from training.studies.downscaling.sweep.findings import Evaluation, Findings, Score
from training.studies.downscaling.sweep.laws import fit_laws, optimal_points
from training.studies.downscaling.sweep.measures import InitPair, Measures, step_of_equal_loss
from training.studies.downscaling.sweep.summary import summarize

SHAPES = (ANCHOR, *smallest())


def study(models, scores=(), recipe=None):
    return Measures(Findings({}, (), tuple(models), tuple(scores), recipe or {}))


def test_gain_is_mean_over_models_with_deviation_over_seeds():
    models = [made_model(shape) for shape in SHAPES]
    by_key = {}
    scores = []
    for number, model in enumerate(models):
        for seed in (1, 2, 3):
            for random in (True, False):
                for task in ("cola", "rte"):
                    best = 50 + 3 * number * seed - random * (4 - 2 * number) * seed + (task == "cola")
                    scores.append(Score(model.name, task, True, random, seed, best, best - 1))
                    by_key.setdefault((number, seed, random), []).append(best)
    gain = study(models, scores).gain(filtered=True)
    differences = {
        (number, seed): mean(by_key[number, seed, False]) - mean(by_key[number, seed, True])
        for number in range(4)
        for seed in (1, 2, 3)
    }
    of_models = [mean(differences[number, seed] for seed in (1, 2, 3)) for number in range(4)]
    of_seeds = [mean(differences[number, seed] for number in range(4)) for seed in (1, 2, 3)]
    assert gain.points.mean == pytest.approx(mean(of_models))
    assert gain.points.deviation == pytest.approx(stdev(of_seeds))
    assert (gain.better, gain.models) == (2, 4)  # 8, 4, 0 and -4 points for the second seed
    assert study(models, scores).gain(filtered=False) is None


def test_gain_uses_seeds_of_both_model_and_baseline():
    model = made_model(ANCHOR)
    kept = [score for score in made_scores([model]) if score.filtered and (score.seed == 1 or not score.random_init)]
    gain = study([model], kept).gain(filtered=True)
    trained, baseline = ([s.best for s in kept if s.seed == 1 and s.random_init == random] for random in (False, True))
    assert gain.points.mean == pytest.approx(mean(trained) - mean(baseline))
    assert gain.points.deviation is None
    last = study([model], kept).gain(filtered=True, last=True)
    trained, baseline = ([s.last for s in kept if s.seed == 1 and s.random_init == random] for random in (False, True))
    assert last.points.mean == pytest.approx(mean(trained) - mean(baseline))


def test_nan_scores_are_ignored():
    model = made_model(ANCHOR)
    scores = [replace(score, best=math.nan) if score.seed == 3 else score for score in made_scores([model])]
    assert study([model], scores).glue_by_seed(model, filtered=True).keys() == {1, 2}


def test_two_models_of_same_shape_init_and_language_raise():
    with pytest.raises(BitcipherError, match="first and second have the same shape, init and language"):
        study([made_model(ANCHOR, name="first"), made_model(ANCHOR, name="second")])


@given(
    st.lists(st.floats(0.5, 9), min_size=1, max_size=8),
    st.floats(0.5, 9),
)
def test_step_of_equal_loss_are_interpolated_linearly(losses, end):
    cipher = made_model(ANCHOR, "cipher", evaluations=_evaluations(losses))
    random = made_model(ANCHOR, evaluations=_evaluations([8, end]))
    found = step_of_equal_loss(InitPair(random, cipher))
    if min(losses) > end:
        assert found is None
        return
    first = next(index for index, loss in enumerate(losses) if loss <= end)
    assert first - 1 <= found / 10 <= first
    assert np.interp(found, [10 * index for index in range(len(losses))], losses) == pytest.approx(end) or found == 0


def _evaluations(losses):
    return tuple(Evaluation(10 * index, 160 * index, loss) for index, loss in enumerate(losses))


def test_step_of_equal_loss_of_unfinished_run_are_none():
    pair = InitPair(made_model(ANCHOR, test_loss=None), made_model(ANCHOR, "cipher"))
    assert step_of_equal_loss(pair) is None


def test_optimal_points_use_random_init_constrained_models_after_first_step():
    findings = whole_study()
    points = optimal_points(Measures(findings))
    costs, losses, tokens, sizes = [], [], [], []
    for model in findings.models:
        if (model.init, model.language) != ("random", "constrained"):
            continue
        for evaluation in model.evaluations[1:]:
            costs.append(evaluation.sequences * model.shape.flops_published(model.vocabulary))
            losses.append(evaluation.loss)
            tokens.append(evaluation.sequences * 128)
            sizes.append(model.shape.parameters(vocabulary=model.vocabulary))
    best = set(compute_optimal(costs, losses))
    assert len(points) == len(best) <= 30
    assert set(zip(points.flops, points.losses, points.tokens, points.parameters, strict=True)) == {
        (costs[index], losses[index], tokens[index], sizes[index]) for index in best
    }
    assert (np.diff(points.flops) > 0).all()


def test_fit_laws_recovers_known_law():
    fit = fit_laws(Measures(whole_study())).flops
    assert fit.law.exponent == pytest.approx(EXPONENT, abs=1e-9)
    assert fit.law.coefficient == pytest.approx(COEFFICIENT)
    assert fit.law.r_squared == pytest.approx(1)
    assert fit.intervals.exponents[0] == pytest.approx((EXPONENT, EXPONENT))


def test_fit_laws_recovers_known_break():
    models = [made_model(shape) for shape in set_1()]
    break_at = 1e12
    bent = [
        replace(
            model,
            evaluations=tuple(
                replace(each, loss=_bent(each.sequences * model.shape.flops_published(model.vocabulary), break_at))
                for each in model.evaluations[1:]
            ),
        )
        for model in models
    ]
    measures = study(bent)
    laws = fit_laws(measures)
    broken = laws.flops.law
    assert broken.below.exponent == pytest.approx(-0.05)
    assert broken.above.exponent == pytest.approx(-0.2)
    assert 0.3 * break_at < broken.break_at < 3 * break_at
    sentences = summarize(measures, laws)[0].sentences
    assert "to the power of -0.0500 (-0.0500 to -0.0500 in 95 %" in sentences[0]
    assert "to the power of -0.2000 (-0.2000 to -0.2000 in 95 %" in sentences[0]
    assert f"{laws.flops.plain.exponent:.4f} and R² of {laws.flops.plain.r_squared:.4f}" in sentences[1]


def _bent(flops, break_at):
    return 5 * (flops / break_at) ** (-0.05 if flops < break_at else -0.2)


def test_costs_depend_on_sequence_length():
    model = made_model(ANCHOR)
    measures = study([model], recipe={"pretraining": {"max_position_embeddings": 64}})
    sequences = model.evaluations[-1].sequences
    assert measures.flops(model) == sequences * ANCHOR.flops_published(model.vocabulary, 64)
    assert measures.parameters(model) == ANCHOR.parameters(vocabulary=model.vocabulary, positions=66)
    assert optimal_points(measures).tokens[-1] == sequences * 64


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_points_give_sentence_instead_of_law(count):
    model = made_model(ANCHOR)
    laws = fit_laws(study([replace(model, evaluations=model.evaluations[: count + 1])]))
    assert laws.flops.law is laws.tokens.law is laws.parameters.law is None
    assert laws.flops.missing.endswith(".")


def test_nan_losses_are_ignored():
    model = made_model(ANCHOR)
    evaluations = (*model.evaluations[:-1], replace(model.evaluations[-1], loss=math.nan))
    laws = fit_laws(study([replace(model, evaluations=evaluations)]))
    assert laws.flops.law.exponent == pytest.approx(EXPONENT)
    assert laws.points.losses[-1] == loss_at(STEPS[-2] * 16 * ANCHOR.flops_published(model.vocabulary))


def test_summary_of_finished_study_has_its_numbers():
    measures = Measures(whole_study())
    law, gain, correlation, inits = summarize(measures, fit_laws(measures))
    assert f"the power of {EXPONENT:.4f} ({EXPONENT:.4f} to {EXPONENT:.4f} in 95 %" in law.sentences[0]
    found = measures.gain(filtered=True)
    assert f"{found.points.mean:+.2f} points (± {found.points.deviation:.2f} over seeds)" in gain.sentences[0]
    assert "19 of 19 models gain" in gain.sentences[0]
    assert "no model and its random-init baseline were both evaluated" in gain.sentences[1]
    assert "Over 19 models" in correlation.sentences[0]
    assert "the paper's is -0.67 (p = 6.3 · 10⁻⁷)" in correlation.sentences[0]
    assert "lower for 4 of 4 shapes" in inits.sentences[0]


def test_summary_of_unfinished_study_names_missing_results():
    measures = Measures(begun_study())
    found = summarize(measures, fit_laws(measures))
    assert [finding.sentences[0].split()[0] for finding in found] == ["No", "On", "No", "No"]
