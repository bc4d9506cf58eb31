"""Results of a grid: trials.json and trials.md."""

import statistics
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.markdown import escape, format_spread, format_table
from bitcipher.files.records import FROM_LIST, Record
from training.loop.file_names import ENDED
from training.search.finetuning_grid.options import GridOptions, GridTrial
from training.search.trial_runs import TrialEnd
from training.search.varied_options import format_value
from training.tasks.finetuning.run_files import PREDICTIONS, TASK_INFO, Predictions, Scores, TaskInfo

RESULTS, TABLE = "trials.json", "trials.md"


class TrialOutcome(Record):
    """Scores of a trial, or the reason why it has none."""

    main_metric: str = ""
    """Metric that ranks trials; empty if the trial diverged."""
    steps: int = 0
    """Number of updates of the weights."""
    scores: Scores = Field(default_factory=dict)
    """Scores of the validation split, in percent; empty if the trial diverged."""
    baselines: dict[str, Scores] = Field(default_factory=dict)
    """Scores of baselines that are not trained."""
    diverged: str | None = None
    """Sentence on the divergence; None if there was none."""


class GridTrialResult(Record):
    """Result of a combination of options with one seed."""

    name: str
    """Name of the trial."""
    seed: int
    outcome: TrialOutcome


class CombinationResult(Record):
    """Result of a combination of options."""

    settings: dict[str, Any]
    """Values of the options that the grid varies, by name."""
    mean_score: float | None
    """Mean of the main metric over the seeds, in percent; None if a trial diverged."""
    trials: Annotated[tuple[GridTrialResult, ...], FROM_LIST]
    """Results of each seed."""


class GridResults(Record):
    """Results of a grid; stored as `trials.json`."""

    options: GridOptions
    main_metric: str
    """Metric that the combinations are ranked by; `score` if all trials diverged."""
    combinations: Annotated[tuple[CombinationResult, ...], FROM_LIST]
    """Combinations from the best to the worst; then those with a trial that diverged."""


def read_outcome(folder: str) -> TrialOutcome:
    """Return the outcome of a trial that has ended.

    Args:
        folder: path or URI of its run.

    Raises:
        BitcipherError: if a file of the run is missing or damaged.
    """
    if storage.exists(storage.join(folder, ENDED)):
        return TrialOutcome(diverged=TrialEnd.read(storage.join(folder, ENDED)).diverged)
    info, result = TaskInfo.read(storage.join(folder, TASK_INFO)), Predictions.read(storage.join(folder, PREDICTIONS))
    return TrialOutcome(
        main_metric=info.main_metric, steps=info.max_steps, scores=result.scores, baselines=result.baselines
    )


def write_results(
    options: GridOptions, trials: Sequence[GridTrial], outcomes: Sequence[TrialOutcome], out: str
) -> GridResults:
    """Write `trials.json` and `trials.md`, and return the results.

    Raises:
        BitcipherError: if a trial of each combination diverged.
    """
    metric = next((each.main_metric for each in outcomes if each.main_metric), "score")
    ended = list(zip(trials, outcomes, strict=True))
    combinations = []
    for number in range(trials[-1].combination + 1):
        found = [(trial, outcome) for trial, outcome in ended if trial.combination == number]
        scores = [outcome.scores[metric] for _, outcome in found if outcome.diverged is None]
        results = [GridTrialResult(name=t.name, seed=t.options.seed, outcome=outcome) for t, outcome in found]
        mean = statistics.fmean(scores) if len(scores) == len(found) else None
        combinations.append(CombinationResult(settings=found[0][0].settings, mean_score=mean, trials=tuple(results)))
    # The sort is stable, so the first of equal combinations stays first.
    ranked = sorted(combinations, key=lambda each: -(float("-inf") if each.mean_score is None else each.mean_score))
    results = GridResults(options=options.redacted(), main_metric=metric, combinations=tuple(ranked))
    json_files.write(storage.join(out, RESULTS), results.to_dict())
    storage.write_bytes(storage.join(out, TABLE), format_results(results).encode())
    if ranked[0].mean_score is None:
        failed = next(each for each in ranked[0].trials if each.outcome.diverged)
        raise BitcipherError(
            f"No combination of options was trained without divergence; {failed.name}: {failed.outcome.diverged} Give "
            "lower values of loop.learning_rate."
        )
    return results


def format_results(results: GridResults) -> str:
    """Return the table of a grid in Markdown: options, steps, and each score as mean ± standard deviation of seeds."""
    trained = [trial.outcome for row in results.combinations for trial in row.trials if not trial.outcome.diverged]
    metrics = (
        sorted(trained[0].scores, key=lambda name: name != results.main_metric) if trained else [results.main_metric]
    )
    header = ("trials", *results.combinations[0].settings, "steps", *metrics)
    rows = []
    for row in results.combinations:
        outcomes = [trial.outcome for trial in row.trials]
        scores = (
            ["diverged"] + ["–"] * (len(metrics) - 1)
            if row.mean_score is None
            else [format_spread([each.scores[name] for each in outcomes], 2) for name in metrics]
        )
        trials, steps = ", ".join(trial.name for trial in row.trials), max(each.steps for each in outcomes)
        rows.append((trials, *map(format_value, row.settings.values()), f"{steps:,}", *scores))
    baselines = trained[0].baselines if trained else {}
    columns = len(header) - len(metrics) - 1
    rows += [
        (f"baseline: {name}", *[""] * columns, *(f"{scores[each]:.2f}" for each in metrics))
        for name, scores in baselines.items()
    ]
    note = f"Combinations are sorted by {results.main_metric}. Scores of several seeds are mean ± standard deviation."
    return f"{format_table(header, rows)}\n{escape(note)}\n"
