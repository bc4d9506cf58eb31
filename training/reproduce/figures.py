"""Figures 4 and 5 of Zhao & Williams (2023), *Bit Cipher*: training runs over seeds, and their curves."""

import json
from collections.abc import Sequence
from pathlib import Path

from pipelines.runtime.progress import StageProgress
from training.curves.comparison import compare_runs
from training.launch.pretraining import launch_pretraining
from training.recipe import find_recipe, read_recipe

# Recipe and changed options of each curve. The first curve is the baseline.
FIGURE_4 = {
    "random": ("figure-4-random", []),
    # Same scale as the best cipher init, because larger random embeddings alone help.
    "random-scaled": ("figure-4-random", ["embeddings.scale=3"]),
    "wide-frozen": ("figure-4-wide", []),
    "wide": ("figure-4-wide", ["embeddings.freeze_fraction=0"]),
    "near-frozen": ("figure-4-near", []),
    "near": ("figure-4-near", ["embeddings.freeze_fraction=0"]),
    "best": ("figure-4-best", []),
}
FIGURE_5 = ("roberta", "t5", "opt")
PREPARED = "prepared"


def reproduce_figure_4(
    sources: Sequence[str], out: Path, seeds: int, settings: Sequence[str], workers: int, progress: StageProgress
) -> str:
    """Train models with random and cipher init on a text, and plot them together.

    Args:
        sources: sources of the text.
        out: directory of the runs, and of curves.png, curves.html and table.md.
        seeds: number of runs per init.
        settings: changes to all recipes, such as "loop.max_steps=500".
        workers: see `training.launch.pretraining`.
        progress: progress display.

    Returns:
        The table, in Markdown.
    """
    runs = []
    for seed in range(1, seeds + 1):
        for name, (recipe, changes) in FIGURE_4.items():
            given = [*changes, _sources(sources), *settings, f"seed={seed}"]
            runs.append(_run(recipe, out / f"{name}-{seed}", out, given, workers, progress))
    return compare_runs(runs, str(out))


def reproduce_figure_5(
    pretraining: Sequence[str],
    sources: Sequence[str],
    out: Path,
    seeds: int,
    settings: Sequence[str],
    pretraining_settings: Sequence[str],
    workers: int,
    progress: StageProgress,
) -> str:
    """Pre-train RoBERTa, T5 and OPT, then fine-tune each on another text, with its own embeddings and cipher vectors.

    Args:
        pretraining: sources of the text for pre-training.
        sources: sources of the text for fine-tuning.
        out: directory of the runs; each model has a subdirectory with curves.png, curves.html and table.md.
        seeds: number of fine-tuning runs per model and init, all from one pre-trained model.
        settings: changes to all recipes.
        pretraining_settings: further changes to the recipes of pre-training.
        workers: see `training.launch.pretraining`.
        progress: progress display.

    Returns:
        The tables, in Markdown.
    """
    tables = []
    for model in FIGURE_5:
        pretrained = out / f"{model}-pretrained"
        given = [_sources(pretraining), *settings, *pretraining_settings]
        _run(f"figure-5-{model}-pretrain", pretrained, out, given, workers, progress)
        runs = []
        for seed in range(1, seeds + 1):
            given = [_sources(sources), f"model.checkpoint={json.dumps(str(pretrained))}", *settings, f"seed={seed}"]
            for init in ("ordinary", "cipher"):
                target = out / model / f"{init}-{seed}"
                runs.append(_run(f"figure-5-{model}-{init}", target, out, given, workers, progress))
        tables.append(f"## {model}\n\n{compare_runs(runs, str(out / model))}")
    return "\n".join(tables)


def _run(recipe: str, folder: Path, out: Path, settings: Sequence[str], workers: int, progress: StageProgress) -> Path:
    launch_pretraining(read_recipe(find_recipe(recipe), settings), folder, out / PREPARED, workers, progress)
    return folder


def _sources(sources: Sequence[str]) -> str:
    return f"text.sources={json.dumps(list(sources))}"
