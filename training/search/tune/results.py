"""Results of a search: trials.json, trials.md and the recipe of the best trial."""

from collections.abc import Sequence
from typing import Annotated, Any

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.markdown import escape, format_table
from bitcipher.files.records import FROM_LIST, Record
from training.search.trial_runs import TrialEnd
from training.search.tune.options import SearchOptions
from training.search.tune.trial_recipes import TuningTrial
from training.search.varied_options import format_value

RESULTS, TABLE, BEST = "trials.json", "trials.md", "best.yaml"


class TrialResult(Record):
    """Result of a trial."""

    name: str
    init: str
    settings: dict[str, Any]
    """Values of the searched options, by name."""
    steps: int
    """Number of updates of the weights."""
    tokens: int
    """Number of tokens that the trial was trained on."""
    score: TrialEnd


class SearchResults(Record):
    """Results of a search; stored as `trials.json`."""

    options: SearchOptions
    trials: Annotated[tuple[TrialResult, ...], FROM_LIST]
    """Trials from the lowest loss to the highest; then those that diverged."""
    best: dict[str, str]
    """Name of the best trial of each init."""


def make_result(trial: TuningTrial, score: TrialEnd) -> TrialResult:
    """Return the result of a trial that has ended."""
    recipe = trial.recipe
    length = recipe.make_objective().text_length(recipe.model.max_position_embeddings)
    tokens = recipe.loop.count_sequences(recipe.loop.max_steps) * length
    return TrialResult(
        name=trial.name,
        init=trial.init,
        settings=trial.settings,
        steps=recipe.loop.max_steps,
        tokens=tokens,
        score=score,
    )


def write_results(options: SearchOptions, trials: Sequence[TuningTrial], scores: Sequence[TrialEnd], out: str) -> str:
    """Write the results of a search, and return their table in Markdown.

    `best.yaml` is the recipe of the trial with the lowest loss. If there are several inits, `best-INIT.yaml` is the
    best recipe of each.

    Raises:
        BitcipherError: if all trials of an init diverged. The table is written before.
    """
    results = [make_result(trial, score) for trial, score in zip(trials, scores, strict=True)]
    ranked = sorted(results, key=lambda each: (_loss(each), each.name))
    best: dict[str, str] = {}
    for each in ranked:
        if each.score.validation_loss is not None:
            best.setdefault(each.init, each.name)
    table = _format(ranked, set(best.values()))
    stored = SearchResults(options=options.redacted(), trials=tuple(ranked), best=best)
    json_files.write(storage.join(out, RESULTS), stored.to_dict())
    storage.write_bytes(storage.join(out, TABLE), table.encode())
    failed = [init for init in options.effective_inits if init not in best]
    if failed:
        raise BitcipherError(
            f"All trials with {failed[0]} init diverged, such as {ranked[-1].name} ({ranked[-1].score.diverged}); "
            "search lower values of loop.learning_rate."
        )
    recipes = {trial.name: trial.recipe.to_yaml() for trial in trials}
    storage.write_bytes(storage.join(out, BEST), recipes[ranked[0].name].encode())
    if len(best) > 1:
        for init, name in best.items():
            storage.write_bytes(storage.join(out, f"best-{init}.yaml"), recipes[name].encode())
    return table


def _loss(result: TrialResult) -> float:
    loss = result.score.validation_loss
    return float("inf") if loss is None else loss


def _format(ranked: Sequence[TrialResult], best: set[str]) -> str:
    header = ("trial", *ranked[0].settings, "steps", "tokens", "validation loss", "perplexity")
    rows = []
    for each in ranked:
        loss, perplexity = each.score.validation_loss, each.score.perplexity
        score = (
            "diverged" if loss is None else f"{loss:.4f}",
            "–" if perplexity is None else f"{perplexity:,.1f}",
        )
        settings = map(format_value, each.settings.values())
        rows.append((each.name, *settings, f"{each.steps:,}", f"{each.tokens:,}", *score))
    table = format_table(header, rows, marks=["**" if each.name in best else "" for each in ranked])
    note = (
        "Trials are sorted by validation loss; the best of each init is bold. Trial 000 has the options of the recipe."
    )
    return f"{table}\n{escape(note)}\n"
