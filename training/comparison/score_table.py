"""Table of the scores of fine-tuned models, and of the baselines of their task."""

from collections.abc import Mapping, Sequence

from bitcipher.files.markdown import format_spread, format_table
from training.runs.launch.finetuning import FinetuningResult


def score_table(
    title: str,
    results: Mapping[str, Sequence[FinetuningResult]],
    metrics: Sequence[str],
    paper: tuple[str, Mapping[str, str]] | None = None,
) -> str:
    """Return the scores of models, mean ± standard deviation over seeds (n - 1), and of the baselines, in Markdown.

    Args:
        title: title of the first column, of the names of models.
        results: fine-tuning runs of each model, one per seed, all on the same task.
        metrics: names of the scores to show.
        paper: title and values by model of a last column, for published scores.
    """
    rows = [
        (name, str(len(found)), *(format_spread([each.scores[metric] for each in found], 1) for metric in metrics))
        for name, found in results.items()
    ]
    baselines = next(iter(results.values()))[0].baselines
    rows += [
        (f"baseline: {name}", "", *(f"{scores[metric]:.1f}" for metric in metrics))
        for name, scores in baselines.items()
    ]
    header = [title, "seeds", *metrics]
    if paper:
        header.append(paper[0])
        rows = [(*row, paper[1].get(row[0], "")) for row in rows]
    return format_table(header, rows)
