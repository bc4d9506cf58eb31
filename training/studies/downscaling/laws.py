"""Laws and correlations of Deshpande et al. (2023), *Honey, I Shrunk the Language*, from evaluations of its runs."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import csv

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.markdown import format_table
from training.studies.downscaling.laws_figure import draw_laws
from training.studies.downscaling.scaling.bootstrap import bootstrap_law
from training.studies.downscaling.scaling.checks import check_positive
from training.studies.downscaling.scaling.correlation import rank_correlation
from training.studies.downscaling.scaling.frontier import compute_optimal
from training.studies.downscaling.scaling.law_selection import select_law
from training.studies.downscaling.scaling.power_law import BrokenPowerLaw, fit_broken, fit_power_law
from training.studies.downscaling.scaling.published import published
from training.studies.downscaling.scaling.shape import Shape

# Columns of the table of evaluations that the authors published, `EVAL_RESULTS…csv`.
_SIZES = ("embedding_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
_QUANTITIES = {"parameters": "Total parameters", "tokens": "Tokens", "flops": "FLOPS Hoffman total"}
_LOSS = "eval/loss"
_TOKENS_PER_SEQUENCE = 128
# Numbers of bins whose fits show how much the exponents depend on the choice.
_BINS = range(30, 41)
BINS = 30
"""Number of bins of FLOPs. The paper has "over 30"."""


@dataclass(frozen=True)
class RunEvaluations:
    """Evaluations of all runs of the study, (N,) float64 each."""

    parameters: np.ndarray
    tokens: np.ndarray
    flops: np.ndarray
    """FLOPs by the published formula."""
    flops_hoffmann: np.ndarray
    """FLOPs by the formula of Appendix A, with two steps of attention that the published formula lacks."""
    losses: np.ndarray
    """Losses on the development split, in nats."""

    def optimal(self, bins: int = BINS) -> "RunEvaluations":
        """Return the compute-optimal evaluations: those with the lowest loss in each bin of FLOPs."""
        best = compute_optimal(self.flops, self.losses, bins)
        return RunEvaluations(*(getattr(self, name)[best] for name in self.__dataclass_fields__))


def reproduce_downscaling(evaluations: str, out: str) -> str:
    """Fit the laws of section 5.1, and write a table and a figure.

    Args:
        evaluations: CSV file, compressed or not, of the study's evaluations.
        out: path or URI of the directory of fits.md and laws.png.

    Returns:
        The tables in Markdown.

    Raises:
        BitcipherError: if the file cannot be read, lacks a column, or has too few evaluations.
    """
    everything = read_evaluations(evaluations)
    points = everything.optimal()
    page = "\n\n".join([_exponents(everything, points).rstrip(), *_selected(points), _correlations()])
    picture = draw_laws(points.flops, points.tokens, points.parameters, points.losses)
    storage.write_bytes(storage.join(out, "laws.png"), picture)
    storage.write_bytes(storage.join(out, "fits.md"), page.encode())
    return page


def read_evaluations(path: str) -> RunEvaluations:
    """Read the evaluations of a study from a CSV file with the authors' columns.

    Raises:
        BitcipherError: if the file cannot be read, lacks a column, or has a number that is not above 0.
    """
    try:
        table = csv.read_csv(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise BitcipherError(f"{path} is not a CSV file that can be read: {str(error).splitlines()[0]}") from None
    needed = [*_QUANTITIES.values(), *_SIZES, _LOSS]
    if missing := [name for name in needed if name not in table.column_names]:
        raise BitcipherError(f"{path} lacks the column {missing[0]!r}; give the authors' table of evaluations.")
    try:
        columns = {
            name: check_positive(f"{name} in {path}", table[name].cast(pa.float64(), safe=False)) for name in needed
        }
    except pa.ArrowInvalid as error:
        raise BitcipherError(f"{path} has a value that is not a number: {str(error).splitlines()[0]}") from None
    shapes = [Shape(*map(int, sizes)) for sizes in zip(*(columns[name] for name in _SIZES), strict=True)]
    tokens = columns[_QUANTITIES["tokens"]]
    hoffmann = np.array([shape.flops_hoffmann() for shape in shapes], float) * tokens / _TOKENS_PER_SEQUENCE
    return RunEvaluations(
        columns[_QUANTITIES["parameters"]], tokens, columns[_QUANTITIES["flops"]], hoffmann, columns[_LOSS]
    )


def exponents(points: RunEvaluations) -> dict[str, tuple[float, float]]:
    """Return exponent and R² of each power law of the paper, by its name in `published().fits`."""
    return {
        name: (law.exponent, law.r_squared)
        for name, (x, y) in _regions(points, points.flops).items()
        for law in [fit_power_law(x, y)]
    }


def _regions(points: RunEvaluations, flops: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    above = flops > published().break_at
    return {
        "tokens of training": (points.tokens, points.losses),
        "parameters": (points.parameters, points.losses),
        "FLOPs above the break": (flops[above], points.losses[above]),
        "FLOPs below the break": (flops[~above], points.losses[~above]),
    }


def _exponents(everything: RunEvaluations, points: RunEvaluations) -> str:
    found = exponents(points)
    others = [exponents(everything.optimal(bins)) for bins in _BINS]
    rows = []
    for fit in published().fits:
        exponent, r_squared = found[fit.against]
        spread = [other[fit.against][0] for other in others]
        x, y = _regions(points, points.flops_hoffmann)[fit.against]
        rows.append(
            [
                fit.against,
                f"{exponent:.4f}",
                f"{fit.exponent:.4f}",
                f"{exponent - fit.exponent:+.4f}",
                f"{r_squared:.4f}",
                f"{fit.r_squared:.4f}" if fit.r_squared else "low",
                f"{min(spread):.4f} to {max(spread):.4f}",
                f"{fit_power_law(x, y).exponent:.4f}",
            ]
        )
    header = [
        "loss against",
        "exponent",
        "paper's",
        "difference",
        "R²",
        "paper's R²",
        f"exponent with {_BINS[0]} to {_BINS[-1]} bins",
        "FLOPs of Appendix A",
    ]
    return format_table(header, rows)


def _selected(points: RunEvaluations) -> list[str]:
    """Return a sentence about the best break, and one about the law that the points support."""
    best = fit_broken(points.flops, points.losses)
    law = select_law(points.flops, points.losses)
    found = bootstrap_law(points.flops, points.losses, law).exponents
    laws = [law.below, law.above] if isinstance(law, BrokenPowerLaw) else [law]
    described = " and ".join(
        f"{each.exponent:.4f} ({low:.4f} to {high:.4f})" for each, (low, high) in zip(laws, found, strict=True)
    )
    where = f"a break at {law.break_at:.3g} FLOPs" if isinstance(law, BrokenPowerLaw) else "no break"
    return [
        f"The best break is at {best.break_at:.3g} FLOPs (paper: {published().break_at:.3g}), with exponents of "
        f"{best.below.exponent:.4f} (R² {best.below.r_squared:.4f}) below and {best.above.exponent:.4f} "
        f"(R² {best.above.r_squared:.4f}) above.",
        f"The {len(points.losses)} compute-optimal points support {where} and an irreducible loss of "
        f"{laws[0].offset:.4f}: exponents, with 95 % intervals, {described}.",
    ]


def correlations() -> dict[str, dict[str, tuple[float, float]]]:
    """Return Spearman's coefficients and p-values of perplexity and GLUE by kind, over the tables of the paper.

    Table 4 has differences in percent, so its models need those of Table 3.
    """
    tables = published()
    models = {row.shape: row for row in tables.pretrained}
    rows = [(row.perplexity, row.glue_filtered, row.glue_unfiltered) for row in tables.pretrained]
    for other in tables.unconstrained:
        base = models[other.shape]
        rows.append(
            (
                base.perplexity * (1 + other.perplexity / 100),
                base.glue_filtered * (1 + other.glue_filtered / 100),
                base.glue_unfiltered * (1 + other.glue_unfiltered / 100),
            )
        )
    groups = {"Table 3": rows[: len(models)], "Tables 3 and 4": rows}
    return {
        name: {
            kind: rank_correlation([row[0] for row in group], [row[column] for row in group])
            for column, kind in ((1, "filtered"), (2, "unfiltered"))
        }
        for name, group in groups.items()
    }


def _correlations() -> str:
    found = correlations()
    rows = []
    for row in published().correlations:
        cells = [f"{found[name][row.glue][0]:.2f} (p = {found[name][row.glue][1]:.2g})" for name in found]
        rows.append([f"{row.glue} GLUE", *cells, f"{row.coefficient:.2f} (p = {row.p_value:.2g})"])
    header = ["Spearman's coefficient of perplexity and", *(f"models of {name}" for name in found), "paper's"]
    return format_table(header, rows)
