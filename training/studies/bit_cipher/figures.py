"""Figures 4 and 5 of Zhao & Williams (2023), *Bit Cipher*: training runs with several seeds, and their curves."""

import json
from collections.abc import Sequence

from bitcipher.files import storage
from pipelines.ingest.sources import list_sources
from pipelines.runtime.progress import StageProgress
from training.comparison.curves.comparison import compare_runs
from training.comparison.recipe_runs import set_sources, train_recipe

# Recipe and changed options of each curve of Figure 4. The first curve is the baseline.
FIGURE_4 = {
    "random": ("figure-4-random", []),
    # Random embeddings with the scale of the best cipher init, because a larger scale alone improves the perplexity.
    "random-scaled": ("figure-4-random", ["embeddings.scale=3"]),
    "wide-frozen": ("figure-4-wide", []),
    "wide": ("figure-4-wide", ["embeddings.freeze_fraction=0"]),
    "near-frozen": ("figure-4-near", []),
    "near": ("figure-4-near", ["embeddings.freeze_fraction=0"]),
    "best": ("figure-4-best", []),
}
FIGURE_5 = ("roberta", "t5", "opt")


def reproduce_figure_4(
    sources: Sequence[str], out: str, seeds: int, settings: Sequence[str], workers: int, progress: StageProgress
) -> str:
    """Train models with random and cipher init on a text, and plot their perplexities in one figure.

    Args:
        sources: sources of the text.
        out: path or URI of the directory of the runs, and of curves.png, lead.png, curves.html and table.md.
        seeds: number of runs per init.
        settings: changes to all recipes, such as "loop.max_steps=500".
        workers: number of Ray workers; 0 trains in this process.
        progress: progress display.

    Returns:
        The table of perplexities, in Markdown.
    """
    runs = []
    for seed in range(1, seeds + 1):
        for name, (recipe, changes) in FIGURE_4.items():
            run_settings = [*changes, set_sources(sources), *settings, f"seed={seed}"]
            runs.append(train_recipe(recipe, storage.join(out, f"{name}-{seed}"), out, run_settings, workers, progress))
    return compare_runs(runs, out).markdown()


def reproduce_figure_5(
    pretraining: Sequence[str],
    sources: Sequence[str],
    out: str,
    seeds: int,
    settings: Sequence[str],
    pretraining_settings: Sequence[str],
    workers: int,
    progress: StageProgress,
) -> str:
    """Pre-train RoBERTa, T5 and OPT. Fine-tune each on another text, with its own embeddings and with cipher vectors.

    Args:
        pretraining: sources of the text for pre-training.
        sources: sources of the text for fine-tuning.
        out: path or URI of the directory of the runs; each model has a subdirectory with curves.png, lead.png,
            curves.html and table.md.
        seeds: number of fine-tuning runs per model and init, all from one pre-trained model.
        settings: changes to all recipes.
        pretraining_settings: additional changes to the recipes of pre-training.
        workers: number of Ray workers; 0 trains in this process.
        progress: progress display.

    Returns:
        The table of perplexities of each model, in Markdown.

    Raises:
        BitcipherError: if a source is missing, or an option is not valid.
    """
    for patterns in (pretraining, sources):
        list_sources(patterns)  # raises before hours of pre-training, if a file is missing
    tables = []
    for model in FIGURE_5:
        pretrained = storage.join(out, f"{model}-pretrained")
        run_settings = [set_sources(pretraining), *settings, *pretraining_settings]
        train_recipe(f"figure-5-{model}-pretrain", pretrained, out, run_settings, workers, progress)
        checkpoint = f"model.checkpoint={json.dumps(pretrained)}"
        runs = []
        for seed in range(1, seeds + 1):
            run_settings = [set_sources(sources), checkpoint, *settings, f"seed={seed}"]
            for init in ("ordinary", "cipher"):
                target = storage.join(out, model, f"{init}-{seed}")
                runs.append(train_recipe(f"figure-5-{model}-{init}", target, out, run_settings, workers, progress))
        tables.append(f"## {model}\n\n{compare_runs(runs, storage.join(out, model)).markdown()}")
    return "\n".join(tables)
