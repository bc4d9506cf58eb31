"""Table of random and cipher init by size, and the list of all tables of the report."""

from training.studies.downscaling.sweep.measures import InitPair, Measures, step_of_equal_loss
from training.studies.downscaling.sweep.tables import NONE, ReportTable, format_fixed, format_shape, format_spread
from training.studies.downscaling.sweep.tables_checkpoints import checkpoints_table
from training.studies.downscaling.sweep.tables_language import accounting_table, tokenizer_table
from training.studies.downscaling.sweep.tables_models import (
    effectiveness_table,
    millions,
    models_table,
    unconstrained_table,
)


def all_tables(measures: Measures) -> tuple[ReportTable, ...]:
    """Return Tables 1, 2, 3, 4 and 6 of Deshpande et al. (2023), and those of inits and of checkpoints, if any."""
    return (
        accounting_table(measures.findings),
        effectiveness_table(measures),
        models_table(measures),
        *([checkpoints_table(measures)] if measures.findings.checkpoints else []),
        unconstrained_table(measures),
        tokenizer_table(measures.findings),
        inits_table(measures),
    )


def inits_table(measures: Measures) -> ReportTable:
    """Return the table that compares random and cipher init for each shape."""
    rows = [
        (
            format_shape(pair.random.shape),
            millions(measures.parameters(pair.random)),
            format_fixed(measures.perplexity(pair.random)),
            format_fixed(measures.perplexity(pair.cipher)),
            format_fixed(measures.init_ratio(pair), 3),
            _format_steps(pair),
            *(
                format_spread(measures.glue(model, filtered=filtered))
                for filtered in (True, False)
                for model in (pair.random, pair.cipher)
            ),
        )
        for pair in measures.init_pairs()
    ]
    return ReportTable(
        "Inits: random against cipher",
        (
            "(E, H, I, L, A)",
            "parameters, millions",
            "perplexity, random",
            "perplexity, cipher",
            "perplexity ratio",
            "steps to random's final loss",
            "GLUE filtered, random",
            "GLUE filtered, cipher",
            "GLUE unfiltered, random",
            "GLUE unfiltered, cipher",
        ),
        tuple(rows),
        (
            "Perplexities are of the test split after the last step, and their ratio is cipher divided by random. "
            "Steps to random's final loss are the steps until the development loss with cipher init reaches the final "
            "loss with random init, also in percent of the steps with random init. Losses are interpolated linearly "
            "between evaluations.",
        )
        if rows
        else (),
        "No shape was trained with both random and cipher init, so the two cannot be compared.",
    )


def _format_steps(pair: InitPair) -> str:
    if pair.random.test_loss is None:
        return NONE
    steps = step_of_equal_loss(pair)
    if steps is None:
        return "not reached" if pair.cipher.test_loss is not None else NONE
    last = pair.random.evaluations[-1].step
    return f"{steps:,.0f} ({100 * steps / last:.0f} %)" if last else f"{steps:,.0f}"
