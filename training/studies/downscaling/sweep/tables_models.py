"""Tables 2, 3 and 4: cost-effectiveness of each size, results of all models, and effect of the constrained language.

Tables are numbered as in Deshpande et al. (2023), which comments and docstrings call the paper.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from itertools import chain, pairwise
from typing import Any

from training.studies.downscaling.scaling.effectiveness import cost_effectiveness
from training.studies.downscaling.scaling.published import published
from training.studies.downscaling.scaling.shape import Shape
from training.studies.downscaling.sweep.findings import PretrainedModel
from training.studies.downscaling.sweep.measures import Measures, Spread
from training.studies.downscaling.sweep.tables import (
    NONE,
    PAPER,
    ReportTable,
    format_fixed,
    format_shape,
    format_significant,
    format_spread,
)

# The cost of attention heads is negligible, so the paper has no ratios for them (section 4.4).
_SIZES = {
    "hidden": "hidden size",
    "layers": "layers",
    "embedding": "embedding size",
    "intermediate": "intermediate size",
}


def effectiveness_table(measures: Measures) -> ReportTable:
    """Return Table 2: decrease in perplexity per additional billion FLOPs, for models that differ in one size only."""
    rows = []
    for size, title in _SIZES.items():
        for models in _series(measures, size):
            # A series has only models with a perplexity.
            perplexities: Any = [measures.perplexity(model) for model in models]
            ratios = cost_effectiveness([measures.sequence_flops(model) for model in models], perplexities)
            shapes = [model.shape for model in models]
            theirs = [None, *(_published_ratio(size, *pair) for pair in pairwise(shapes))]
            rows += [
                (title, format_shape(shape), _ratio(ours), _ratio(their))
                for shape, ours, their in zip(shapes, ratios, theirs, strict=True)
            ]
    return ReportTable(
        "Table 2: cost-effectiveness of each size",
        ("varied size", "(E, H, I, L, A)", "ICER", f"{PAPER}'s"),
        tuple(rows),
        (
            "ICER: decrease in test perplexity per additional billion FLOPs of a training sequence, relative to the "
            "model in the row above. If the paper has another model between the two, the paper's ICER is computed from "
            "its Table 3.",
        )
        if rows
        else (),
        "No two finished models differ in one size only, so cost-effectiveness cannot be computed.",
        text_columns=2,
    )


def _series(measures: Measures, size: str) -> list[list[PretrainedModel]]:
    """Return groups of at least two models that differ in one size only, by increasing size."""
    alike: dict[tuple[int, ...], list[PretrainedModel]] = defaultdict(list)
    for model in measures.select():
        if measures.perplexity(model) is not None:
            others = tuple(getattr(model.shape, field.name) for field in fields(Shape) if field.name != size)
            alike[others].append(model)
    return [models for _, models in sorted(alike.items()) if len(models) > 1]


def _published_ratio(size: str, cheaper: Shape, larger: Shape) -> float | None:
    for before, row in pairwise(published().effectiveness[size]):
        if (before.shape, row.shape) == (cheaper, larger):
            return row.ratio
    perplexities = {row.shape: row.perplexity for row in published().pretrained}
    if cheaper not in perplexities or larger not in perplexities:
        return None
    pair = cheaper, larger
    return cost_effectiveness([shape.flops_published() for shape in pair], [perplexities[shape] for shape in pair])[1]


def _ratio(value: float | None) -> str:
    return NONE if value is None else format_significant(value) if abs(value) >= 1000 else format_fixed(value, 4)


def models_table(measures: Measures) -> ReportTable:
    """Return Table 3: size, cost, perplexity and scores of the models that were pre-trained from random init.

    The published values of larger shapes are those of Table 7.
    """
    theirs = {row.shape: row for row in (*published().larger, *published().pretrained)}
    columns: list[tuple[str, Callable[[PretrainedModel], str], str, Callable[[float], str]]] = [
        ("parameters, millions", lambda model: millions(measures.parameters(model)), "parameters", format_fixed),
        ("FLOPs, 10¹⁵", lambda model: format_significant(measures.flops(model) / 1e15), "flops", "{:g}".format),
        ("perplexity", lambda model: format_fixed(measures.perplexity(model)), "perplexity", format_fixed),
        (
            "GLUE unfiltered",
            lambda model: format_spread(measures.glue(model, filtered=False)),
            "glue_unfiltered",
            format_fixed,
        ),
        (
            "GLUE filtered",
            lambda model: format_spread(measures.glue(model, filtered=True)),
            "glue_filtered",
            format_fixed,
        ),
        (
            "GLUE filtered, not pre-trained",
            _format_glue(measures, filtered=True, untrained=True),
            "glue_filtered_random",
            format_fixed,
        ),
        (
            "FLOPs spent, 10¹⁵",
            lambda model: format_significant(measures.flops_spent(model) / 1e15),
            "flops_spent",
            format_fixed,
        ),
    ]
    # Baselines on unfiltered examples exist only in a study without filtered examples, and not in the paper.
    if any(score.random_init and not score.filtered for score in measures.findings.scores):
        columns.append(
            (
                "GLUE unfiltered, not pre-trained",
                _format_glue(measures, filtered=False, untrained=True),
                "glue_unfiltered_random",
                format_fixed,
            )
        )
    rows = []
    for model in measures.select():
        printed = theirs.get(model.shape)
        pairs = (
            (ours(model), format_value(getattr(printed, name)) if hasattr(printed, name) else NONE)
            for _, ours, name, format_value in columns
        )
        rows.append((format_shape(model.shape), *chain.from_iterable(pairs)))
    return ReportTable(
        "Table 3: models and their results",
        ("(E, H, I, L, A)", *_with_paper_columns(title for title, *_ in columns)),
        tuple(rows),
        tuple(_model_notes(measures)) if rows else (),
        "No model has been trained yet.",
    )


def _format_glue(measures: Measures, *, filtered: bool, untrained: bool = False) -> Callable[[PretrainedModel], str]:
    return lambda model: format_spread(measures.glue(model, filtered=filtered, untrained=untrained))


def _model_notes(measures: Measures) -> list[str]:
    notes = [
        "Scores are in percent, after the best epoch of each task: the mean over tasks, ± its standard deviation over "
        "seeds (n - 1). Our models have untied heads, and their FLOPs are counted as in the paper. FLOPs spent "
        "have no cost of looking up embeddings, and that of the head only for masked tokens. For intermediate sizes of "
        "128, 256 and 512, the paper's number of parameters is that of a model with a tied head."
    ]
    for model in measures.findings.models:
        if model.stopped is not None:
            notes.append(f"{model.name} was stopped: {model.stopped}")
        elif model.test_loss is None:
            notes.append(f"{model.name} has not finished yet; its FLOPs are those so far.")
        elif measures.perplexity(model) is None:
            notes.append(
                f"{model.name} finished with a test loss of {model.test_loss}, too large for a finite perplexity."
            )
    for score in measures.findings.scores:
        if score.stopped is not None:
            baseline = "The random-init baseline of " if score.random_init else ""
            part = "filtered" if score.filtered else "unfiltered"
            notes.append(
                f"{baseline}{score.model} on {part} {score.task}, seed {score.seed}, was stopped: {score.stopped}"
            )
    return notes


def millions(number: int) -> str:
    """Return parameters in millions, with two decimals as in the paper, or three significant digits below a million."""
    return format_fixed(number / 1e6) if number >= 1e6 else format_significant(number / 1e6)


def _with_paper_columns(titles: Iterable[str]) -> Iterator[str]:
    """Yield our column titles, each followed by the title of the paper's column."""
    return chain.from_iterable((title, f"{PAPER}'s") for title in titles)


def unconstrained_table(measures: Measures) -> ReportTable:
    """Return Table 4: differences between models of the unconstrained and of the constrained language."""
    theirs = {row.shape: row for row in published().unconstrained}
    names = ("parameters", "flops", "perplexity", "glue_filtered", "glue_unfiltered")
    rows = []
    for unconstrained in measures.select(language="unconstrained"):
        model = measures.find(unconstrained.shape)
        if model is None:
            continue
        more = (
            (measures.parameters(unconstrained) - measures.parameters(model)) / 1e6,
            _percent_more(measures.flops(unconstrained), measures.flops(model))
            if _both_finished(unconstrained, model)
            else None,
            _percent_more(measures.perplexity(unconstrained), measures.perplexity(model)),
            *(_glue_more(measures, unconstrained, model, filtered=filtered) for filtered in (True, False)),
        )
        printed = (getattr(theirs.get(unconstrained.shape), name, None) for name in names)
        cells = (cell for pair in zip(more, printed, strict=True) for cell in map(format_fixed, pair))
        rows.append((format_shape(unconstrained.shape), *cells))
    titles = ("Δ parameters, millions", "Δ FLOPs, %", "Δ perplexity, %", "Δ GLUE filtered, %", "Δ GLUE unfiltered, %")
    return ReportTable(
        "Table 4: unconstrained against constrained language",
        ("(E, H, I, L, A)", *_with_paper_columns(titles)),
        tuple(rows),
        (
            "Δ is the value of the unconstrained model minus that of the constrained model, in percent of the latter "
            "if the title has %. Both perplexities are of the constrained test split, but with different tokenizers.",
        )
        if rows
        else (),
        "No shape was trained on both the constrained and the unconstrained language.",
    )


def _both_finished(one: PretrainedModel, other: PretrainedModel) -> bool:
    return one.test_loss is not None and other.test_loss is not None


def _percent_more(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else 100 * (value - base) / base


def _glue_more(measures: Measures, model: PretrainedModel, base: PretrainedModel, *, filtered: bool) -> float | None:
    score, base_score = (measures.glue(each, filtered=filtered) for each in (model, base))
    return _percent_more(_mean(score), _mean(base_score))


def _mean(value: Spread | None) -> float | None:
    return None if value is None else value.mean
