"""Table 1 of He et al. (2021), *DeBERTaV3*: three ways to share embeddings in replaced-token detection."""

from collections.abc import Sequence
from itertools import product
from typing import get_args

from bitcipher import storage
from pipelines.runtime.progress import StageProgress
from training.curves.comparison import compare_runs
from training.finetuning import make_finetune_options
from training.launch.finetuning import FinetuningResult, launch_finetuning
from training.models.options import EmbeddingSharing
from training.reproduce.figures import set_sources, train_recipe
from training.reproduce.score_table import score_table

SHARINGS: tuple[str, ...] = get_args(EmbeddingSharing)
RANDOM = "random weights"
# F1 and exact match on SQuAD 2.0 in the paper, with 12 layers of width 768.
PUBLISHED = {"es": "86.3 / 83.5", "nes": "85.3 / 82.7", "gdes": "87.2 / 84.5"}


def reproduce_embedding_sharing(
    sources: Sequence[str],
    task: str,
    data: str,
    out: str,
    seeds: int,
    settings: Sequence[str],
    finetuning_settings: Sequence[str],
    workers: int,
    progress: StageProgress,
) -> str:
    """Pre-train with each way to share embeddings, fine-tune the discriminators, and compare their scores.

    Args:
        sources: sources of the text for pre-training.
        task: task of `bitcipher finetune`, such as squad2.
        data: folder of the task's files.
        out: path or URI of the directory of the runs, of scores.md, and of curves.png, lead.png, curves.html and
            table.md, whose perplexity is that of the generators.
        seeds: number of runs per way; each has its own pre-training and fine-tuning.
        settings: changes to the recipe `replaced-tokens`.
        finetuning_settings: changes to the options of fine-tuning.
        workers: number of Ray workers; 0 trains in this process.
        progress: progress display.

    Returns:
        The tables of scores and of the generators, in Markdown.
    """
    runs: list[str] = []
    results: dict[str, list[FinetuningResult]] = {name: [] for name in (*SHARINGS, RANDOM)}
    for seed, sharing in product(range(1, seeds + 1), SHARINGS):
        changes = [set_sources(sources), f"model.embedding_sharing={sharing}", *settings, f"seed={seed}"]
        target = storage.join(out, f"{sharing}-{seed}")
        runs.append(train_recipe("replaced-tokens", target, out, changes, workers, progress))
        values = {"model": runs[-1], "task": task, "data": data, "seed": seed}
        # The random weights of a seed are the same for all ways.
        for name in (sharing, *((RANDOM,) if sharing == SHARINGS[0] else ())):
            options = make_finetune_options(values | {"random_init": name == RANDOM}, finetuning_settings)
            folder = storage.join(out, f"{task}-{name.replace(' ', '-')}-{seed}")
            results[name].append(launch_finetuning(options, folder, workers, progress))
    metrics = ("f1", "exact") if task.startswith("squad") else (results[RANDOM][0].main_metric,)
    paper = ("paper, F1 / exact match", PUBLISHED) if task == "squad2" else None
    table = score_table("embeddings", results, metrics, paper)
    storage.write_bytes(storage.join(out, "scores.md"), table.encode())
    return f"{table}\n{compare_runs(runs, out).markdown()}"
