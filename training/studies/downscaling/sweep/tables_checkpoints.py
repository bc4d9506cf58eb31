"""Table of checkpoints: GLUE scores of models at several amounts of compute (Deshpande et al. 2023, Figure 4)."""

from training.studies.downscaling.sweep.findings import PretrainedModel
from training.studies.downscaling.sweep.laws import optimal_points
from training.studies.downscaling.sweep.measures import Measures
from training.studies.downscaling.sweep.tables import (
    ReportTable,
    format_fixed,
    format_integer,
    format_shape,
    format_significant,
    format_spread,
)
from training.studies.downscaling.sweep.tables_models import millions


def checkpoints_table(measures: Measures) -> ReportTable:
    """Return the table of the checkpoints that were fine-tuned, by model and step."""
    optimal = set(optimal_points(measures).flops.tolist())
    rows = [
        (
            format_shape(model.shape),
            millions(measures.parameters(model)),
            format_integer(checkpoint.evaluations[-1].step),
            format_significant(measures.flops(checkpoint) / 1e15),
            format_fixed(measures.development_perplexity(checkpoint)),
            _is_optimal(measures, checkpoint, optimal),
            *(format_spread(measures.glue(checkpoint, filtered=filtered)) for filtered in (False, True)),
        )
        for model in measures.select()
        for checkpoint in measures.checkpoints(model)
        if checkpoint.evaluations
    ]
    return ReportTable(
        "Checkpoints: GLUE at several amounts of compute",
        (
            "(E, H, I, L, A)",
            "parameters, millions",
            "step",
            "FLOPs, 10¹⁵",
            "development perplexity",
            "compute-optimal",
            "GLUE unfiltered",
            "GLUE filtered",
        ),
        tuple(rows),
        ("Compute-optimal: the lowest development loss in its bin of FLOPs (Figure 1).",),
    )


def _is_optimal(measures: Measures, checkpoint: PretrainedModel, optimal: set[float]) -> str:
    return "yes" if float(measures.flops(checkpoint)) in optimal else "no"
