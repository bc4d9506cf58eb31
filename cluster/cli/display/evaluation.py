"""Output of `bitcipher evaluate`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bitcipher.evaluation.analogies import AnalogiesResult, AnalogySection
from bitcipher.evaluation.word_pairs import WordPairsResult
from bitcipher.redaction import redact
from cluster.cli.display.console import OUT, format_share, list_examples
from cluster.cli.display.tables import TextTable

if TYPE_CHECKING:
    from bitcipher.table.keys import Oov
    from training.evaluation.probes.data import TaskData
    from training.evaluation.probes.probe_scores import ProbeResult

# Maximum number of unknown words to show.
EXAMPLES = 5


@dataclass(frozen=True)
class TaskProbes:
    """Scores of probes of each table of vectors on a task."""

    task: "TaskData"
    results: "Sequence[tuple[str, int, ProbeResult]]"
    """Name of the vectors, number of dimensions, and scores."""


@dataclass(frozen=True)
class TableScores:
    """Scores of tables of vectors on word similarity, analogies and labeled corpora."""

    names: Sequence[str]
    """Name of each table of vectors."""
    similarity: Mapping[str, Sequence[WordPairsResult]]
    """Scores of each table, by URI of the file of word pairs."""
    analogies: Sequence[AnalogiesResult]
    """Scores of each table; empty without analogy questions."""
    probes: Sequence[TaskProbes]
    """Scores of each table on each labeled corpus."""


def evaluation_fields(evaluation: TableScores) -> dict[str, Any]:
    """Return the scores for programs, by vectors and file."""
    similarity = [
        {"vectors": name, "set": redact(uri), **vars(score)}
        for uri, scores in evaluation.similarity.items()
        for name, score in zip(evaluation.names, scores, strict=True)
    ]
    analogies = [
        {
            "vectors": name,
            "sections": [_section_fields(section) for section in result.sections],
            "total": _section_fields(result.total),
        }
        for name, result in zip(evaluation.names, evaluation.analogies, strict=False)
    ]
    probes = [_probe_fields(each.task, each.results) for each in evaluation.probes]
    return {"similarity": similarity, "analogies": analogies, "probes": probes}


def print_evaluation(evaluation: TableScores, oov: "Oov") -> None:
    """Print a table of similarity, of analogies and of each labeled corpus, if there are any scores of them."""
    if evaluation.similarity:
        print_similarity(evaluation.names, evaluation.similarity, oov)
    if evaluation.analogies:
        print_analogies(list(zip(evaluation.names, evaluation.analogies, strict=True)))
    for each in evaluation.probes:
        print_probes(each.task, each.results, oov)


def _probe_fields(task: "TaskData", results: Iterable[tuple[str, int, "ProbeResult"]]) -> dict[str, Any]:
    """Return the scores of probes for programs: those of each seed, and their means."""
    metrics = ["accuracy", "weighted_f1"] + (["span_f1"] if task.has_spans else [])
    return {
        "task": task.name,
        "tokens": {name: len(getattr(task, name)) for name in ("train", "validation", "test")},
        "results": [
            {"vectors": name, "dimensions": dimensions}
            | result.to_dict()
            | {"mean": {metric: result.mean(metric) for metric in metrics}}
            for name, dimensions, result in results
        ],
    }


def print_probes(task: "TaskData", results: Iterable[tuple[str, int, "ProbeResult"]], oov: "Oov") -> None:
    """Print the scores of each table of vectors on a task in percent, mean ± standard deviation over seeds.

    Args:
        task: the task.
        results: name of the vectors, number of dimensions, and scores.
        oov: vectors of unknown words.
    """
    unknown = {
        False: "the vector of <oov>, or zeros if there is none",
        True: "the vector of <oov>",
        "spelling": "a vector from their n-grams",
    }[oov]
    metrics = {"accuracy": "accuracy", "weighted F1": "weighted_f1"} | (
        {"span F1": "span_f1"} if task.has_spans else {}
    )
    table = TextTable("vectors", "dimensions", *metrics, "words known", "tokens known")
    for name, dimensions, result in results:
        scores = (_mean_and_spread(result, metric) for metric in metrics.values())
        known = (format_share(result.covered_words), format_share(result.covered_tokens))
        table.add_row(name, str(dimensions), *scores, *known)
    table.print()
    OUT.print(
        f"\n{task.name}: {len(task.train):,} tokens for training, {len(task.validation):,} for validation, "
        f"{len(task.test):,} for testing. Unknown words have {unknown}."
    )


def print_similarity(names: Sequence[str], results: Mapping[str, Sequence[WordPairsResult]], oov: "Oov") -> None:
    """Print Spearman's correlation on each set, times 100, with the share of pairs whose words are known."""
    table = TextTable("Spearman x 100", "pairs", *names)
    for uri, scores in results.items():
        cells = (f"{100 * score.spearman:.1f} ({format_share(score.coverage)} known)" for score in scores)
        table.add_row(uri.rstrip("/").rpartition("/")[2], f"{scores[0].pairs:,}", *cells)
    if len(results) > 1:
        means = (sum(s.spearman for s in column) / len(results) for column in zip(*results.values(), strict=True))
        table.add_row("mean", "", *(f"{100 * mean:.1f}" for mean in means))
    table.print()
    for number, name in enumerate(names):
        unknown = sorted({word for scores in results.values() for word in scores[number].unknown})
        if unknown:
            treated = {
                False: "pairs with these words are left out",
                True: "these words have the vector of <oov>",
                "spelling": "these words have vectors from their n-grams",
            }[oov]
            OUT.print(f"Not in {name}: {list_examples(unknown, EXAMPLES)}; {treated}.")
    OUT.print()


def print_analogies(results: Sequence[tuple[str, AnalogiesResult]]) -> None:
    """Print the accuracy by section, in percent of the questions whose words are known."""
    table = TextTable("analogies, accuracy", "questions", *(name for name, _ in results))
    for sections in zip(*([*result.sections, result.total] for _, result in results), strict=True):
        cells = (f"{100 * section.accuracy:.1f} ({format_share(section.coverage)} known)" for section in sections)
        table.add_row(sections[0].name, f"{sections[0].questions:,}", *cells)
    table.print()


def _mean_and_spread(result: "ProbeResult", metric: str) -> str:
    spread = f" ± {100 * result.spread(metric):.2f}" if len(result.seeds) > 1 else ""
    return f"{100 * result.mean(metric):.2f}{spread}"


def _section_fields(section: AnalogySection) -> dict[str, Any]:
    numbers = {name: getattr(section, name) for name in ("name", "questions", "covered", "scored", "correct")}
    return numbers | {"accuracy": section.accuracy}
