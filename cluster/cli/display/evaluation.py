"""What `bitcipher probe` and `bitcipher evaluate` print."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bitcipher.evaluation import AnalogiesResult, WordPairsResult

if TYPE_CHECKING:
    from training.probes.data import TaskData
    from training.probes.probe import ProbeResult

_OUT = Console(highlight=False, soft_wrap=True, markup=False)

# Unknown words to name.
EXAMPLES = 5


def probes(task: "TaskData", results: Iterable[tuple[str, int, "ProbeResult"]]) -> None:
    """Figures of each table on a task, in per cent: mean ± standard deviation over seeds."""
    names = {"accuracy": "accuracy", "weighted F1": "weighted_f1"} | ({"span F1": "span_f1"} if task.has_spans else {})
    table = _table("vectors", "dimensions", *names, "words known", "tokens known")
    for name, dimensions, result in results:
        figures = (_mean_and_spread(result, figure) for figure in names.values())
        table.add_row(name, str(dimensions), *figures, _share(result.covered_words), _share(result.covered_tokens))
    _OUT.print(table)
    _OUT.print(
        f"\n{task.name}: {len(task.train):,} tokens to train on, {len(task.validation):,} to choose the epoch by, "
        f"{len(task.test):,} measured; unknown words have the vector of <oov>, or zeros if there is none."
    )


def similarity(names: Sequence[str], results: Mapping[str, Sequence[WordPairsResult]]) -> None:
    """Spearman's correlation on each set, times 100, with the share of pairs that are known."""
    table = _table("Spearman x 100", "pairs", *names)
    for uri, scores in results.items():
        cells = (f"{100 * score.spearman:.1f} ({_share(score.coverage)} known)" for score in scores)
        table.add_row(uri.rstrip("/").rpartition("/")[2], f"{scores[0].pairs:,}", *cells)
    if len(results) > 1:
        means = (sum(s.spearman for s in column) / len(results) for column in zip(*results.values(), strict=True))
        table.add_row("mean", "", *(f"{100 * mean:.1f}" for mean in means))
    _OUT.print(table)
    for place, name in enumerate(names):
        unknown = sorted({word for scores in results.values() for word in scores[place].unknown})
        if unknown:
            some = ", ".join(unknown[:EXAMPLES])
            more = f" and {len(unknown) - EXAMPLES:,} more" if len(unknown) > EXAMPLES else ""
            _OUT.print(f"Not in {name}: {some}{more}; pairs with them are left out.")
    _OUT.print()


def analogies(results: Sequence[tuple[str, AnalogiesResult]]) -> None:
    """Right answers by section, in per cent of the questions that are known."""
    table = _table("analogies, % right", "questions", *(name for name, _ in results))
    for sections in zip(*([*result.sections, result.total] for _, result in results), strict=True):
        cells = (f"{100 * section.accuracy:.1f} ({_share(section.coverage)} known)" for section in sections)
        table.add_row(sections[0].name, f"{sections[0].questions:,}", *cells)
    _OUT.print(table)


def _table(first: str, *others: str) -> Table:
    table = Table(first, *others, box=None, pad_edge=False)
    table.columns[0].overflow = "fold"  # names of files differ at their ends
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _mean_and_spread(result: "ProbeResult", figure: str) -> str:
    spread = f" ± {100 * result.spread(figure):.2f}" if len(result.seeds) > 1 else ""
    return f"{100 * result.mean(figure):.2f}{spread}"


def _share(share: float) -> str:
    return f"{share:.1%}"
