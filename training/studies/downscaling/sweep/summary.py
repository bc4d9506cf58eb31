"""Summary of a study in sentences: the law of FLOPs, the gain from pre-training, correlations, and inits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.bootstrap import LawIntervals
from training.studies.downscaling.scaling.correlation import rank_correlation
from training.studies.downscaling.scaling.power_law import BrokenPowerLaw, PowerLaw
from training.studies.downscaling.scaling.published import published
from training.studies.downscaling.sweep.laws import ScalingLaws
from training.studies.downscaling.sweep.measures import Gain, Measures
from training.studies.downscaling.sweep.tables import format_integer, format_scientific
from training.studies.downscaling.sweep.tables_models import millions

_KINDS = {True: "filtered", False: "unfiltered"}


@dataclass(frozen=True)
class SummarySection:
    """Section of the summary: sentences about one result, or the reason why there is no result."""

    title: str
    sentences: tuple[str, ...]


def summarize(measures: Measures, laws: ScalingLaws) -> tuple[SummarySection, ...]:
    """Return a section about each result, in the order of Deshpande et al. (2023)."""
    return (
        SummarySection("Loss against compute", _law(laws)),
        SummarySection("Gain from pre-training", tuple(_gain(measures, filtered) for filtered in _KINDS)),
        SummarySection("Perplexity and GLUE", tuple(_correlation(measures, filtered) for filtered in _KINDS)),
        SummarySection("Random against cipher init", _inits(measures)),
    )


def study_sizes(measures: Measures) -> dict[str, str]:
    """Return the sizes of the study, such as the number of shapes, by their titles on the page."""
    models, scores = measures.findings.models, measures.findings.scores
    ended = sum(model.test_loss is not None for model in models)
    # Stopped models have fewer steps than the study, so they are ignored.
    finished = [model for model in models if model.test_loss is not None] or models
    last = [model.evaluations[-1] for model in finished if model.evaluations and model.evaluations[-1].step]
    constrained = measures.select() or models
    return {
        "finished models": f"{ended} of {len(models)}",
        "shapes": format_integer(len({model.shape for model in models})),
        "parameters, millions": _range([measures.parameters(model) for model in models], millions),
        "steps": _range([evaluation.step for evaluation in last]),
        "sequences per step": _range([evaluation.sequences // evaluation.step for evaluation in last]),
        "tokens per sequence": format_integer(measures.length),
        "vocabulary, tokens": _range([model.vocabulary for model in constrained]),
        "GLUE tasks": format_integer(len({score.task for score in scores})),
        "seeds of fine-tuning": format_integer(len({score.seed for score in scores})),
    }


def _range(values: Sequence[int], format_value: Callable[[int], str] = format_integer) -> str:
    """Return a number, or the minimum and maximum of several."""
    return " to ".join(dict.fromkeys(map(format_value, (min(values), max(values))))) if values else "none yet"


def _law(laws: ScalingLaws) -> tuple[str, ...]:
    fit, theirs = laws.flops, {row.against: row for row in published().fits}
    if fit.plain is None or fit.law is None:
        return (fit.missing,)
    above, below = theirs["FLOPs above the break"], theirs["FLOPs below the break"]
    return (
        f"Over {len(laws.points)} compute-optimal points from {format_scientific(laws.points.flops[0])} to "
        f"{format_scientific(laws.points.flops[-1])} FLOPs, {_describe(fit.law, fit.intervals)}.",
        *_plain(fit.plain, fit.law),
        f"The paper has {above.exponent} (R² {above.r_squared}) above {format_scientific(published().break_at)} "
        f"FLOPs, and {below.exponent} (R² {below.r_squared}) below.",
    )


def _describe(law: PowerLaw | BrokenPowerLaw, intervals: LawIntervals | None) -> str:
    """Return a clause about the law with its intervals, of 95 % of the bootstrap resamples."""
    parts = [law.below, law.above] if isinstance(law, BrokenPowerLaw) else [law]
    bounds = intervals.exponents if intervals else [None] * len(parts)
    powers = [
        f"FLOPs to the power of {part.exponent:.4f}{_interval(bound)} with R² of {part.r_squared:.4f}"
        for part, bound in zip(parts, bounds, strict=True)
    ]
    loss = "the loss"
    if offset := parts[0].offset:
        loss += f" minus an irreducible loss of {offset:.4f}{_interval(intervals and intervals.offset)}"
    if isinstance(law, BrokenPowerLaw):
        return f"{loss} follows {powers[0]} below a break at {format_scientific(law.break_at)}, and {powers[1]} above"
    missing = "a break" if offset else "an irreducible loss or a break"
    return f"{loss} follows {powers[0]}; the points do not support {missing}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return f" ({bounds[0]:.4f} to {bounds[1]:.4f} in 95 % of the bootstrap resamples)" if bounds else ""


def _plain(plain: PowerLaw, law: PowerLaw | BrokenPowerLaw) -> tuple[str, ...]:
    if plain == law:
        return ()
    return (
        "In the paper's form, without an irreducible loss, one law has the exponent "
        f"{plain.exponent:.4f} and R² of {plain.r_squared:.4f}.",
    )


def _gain(measures: Measures, filtered: bool) -> str:
    kind = _KINDS[filtered]
    gain, last = (measures.gain(filtered=filtered, last=last) for last in (False, True))
    if gain is None or last is None:
        return f"On {kind} GLUE, no model and its random-init baseline were both evaluated, so the gain is unknown."
    return (
        f"On {kind} GLUE, pre-training adds {_points(gain)} to the mean score of the random-init baseline, and "
        f"{gain.better} of {gain.models} {'models gain' if gain.models > 1 else 'model gains'} from it; "
        f"after the last epoch instead of the best, it adds {_points(last)}."
    )


def _points(gain: Gain) -> str:
    deviation = gain.points.deviation
    return f"{gain.points.mean:+.2f} points" + (f" (± {deviation:.2f} over seeds)" if deviation is not None else "")


def _correlation(measures: Measures, filtered: bool) -> str:
    kind = _KINDS[filtered]
    pairs = [
        (perplexity, score.mean)
        for model in measures.select()
        if (perplexity := measures.perplexity(model)) is not None
        and (score := measures.glue(model, filtered=filtered)) is not None
    ]
    theirs = next(row for row in published().correlations if row.glue == kind)
    paper = f"the paper's is {theirs.coefficient} ({_p(theirs.p_value)})"
    if not pairs:
        return f"No model has both a test perplexity and scores on {kind} GLUE yet; {paper}."
    try:
        coefficient, p_value = rank_correlation(*zip(*pairs, strict=True))
    except BitcipherError as error:
        return f"Perplexity and {kind} GLUE cannot be compared yet: {error}"
    return (
        f"Over {len(pairs)} models, Spearman's coefficient between test perplexity and the mean score on {kind} GLUE "
        f"is {coefficient:.2f} ({_p(p_value)}); {paper}."
    )


def _p(value: float) -> str:
    return f"p = {value:.2f}" if value >= 0.01 or value == 0 else f"p = {format_scientific(value)}"


def _inits(measures: Measures) -> tuple[str, ...]:
    ratios = [
        (measures.parameters(pair.random), ratio)
        for pair in measures.init_pairs()
        if (ratio := measures.init_ratio(pair)) is not None
    ]
    if not ratios:
        return ("No shape has finished with both random and cipher init, so the two cannot be compared.",)
    values = [ratio for _, ratio in ratios]
    by_size = ", ".join(f"{ratio:.3f} with {millions(size)}" for size, ratio in ratios)
    better = sum(ratio < 1 for ratio in values)
    return (
        f"With cipher init, the test perplexity is {geometric_mean(values):.3f} times that of a random init "
        f"(geometric mean), and lower for {better} of {len(values)} {'shapes' if len(values) > 1 else 'shape'}.",
        f"By size, it is {by_size} million parameters.",
    )
