"""AraBERT's comparison on ARCD (Antoun et al. 2020): words with and without segmentation, and a multilingual model."""

from collections.abc import Sequence
from typing import NamedTuple

from bitcipher import storage
from pipelines.runtime.progress import StageProgress
from training.finetuning import make_finetune_options
from training.finetuning.task_files import read_task
from training.launch.finetuning import FinetuningResult, launch_finetuning
from training.reproduce.figures import set_sources, train_recipe
from training.reproduce.score_table import score_table

METRICS = ("exact_match", "f1", "sentence_match")


class ComparedModel(NamedTuple):
    """Recipe of a model, and its token embeddings before pre-training."""

    recipe: str
    init: str


MODELS = {
    "multilingual": ComparedModel("masked-multilingual", "random"),
    "unsegmented": ComparedModel("masked-arabic", "random"),
    "segmented": ComparedModel("masked-arabic-segmented", "random"),
    "unsegmented, cipher": ComparedModel("masked-arabic", "cipher"),
    "segmented, cipher": ComparedModel("masked-arabic-segmented", "cipher"),
}
# Models whose shapes and tokenizers are also fine-tuned from random weights.
UNTRAINED = ("unsegmented", "segmented")
# Exact match, F1 and sentence match of mBERT, AraBERT v0.1 and AraBERT v1, with 12 layers of width 768.
PUBLISHED = {
    "multilingual": "34.2 / 61.3 / 90.0",
    "unsegmented": "30.1 / 61.2 / 93.0",
    "segmented": "30.6 / 62.7 / 92.0",
}


def reproduce_arcd(
    sources: Sequence[str],
    other: Sequence[str],
    data: str,
    questions: str | None,
    out: str,
    seeds: int,
    settings: Sequence[str],
    finetuning_settings: Sequence[str],
    workers: int,
    progress: StageProgress,
) -> str:
    """Pre-train models of Arabic and a multilingual one with equal steps, fine-tune them on ARCD, and compare them.

    Args:
        sources: sources of Arabic text for pre-training.
        other: sources of text in other languages, which the multilingual model reads, too.
        data: folder of arcd-train.json and arcd-test.json.
        questions: folder of train-v1.1.json and dev-v1.1.json with Arabic questions, on which each model is fine-tuned
            before ARCD, by default for one epoch; None for ARCD alone.
        out: path or URI of the directory of the runs and of scores.md.
        seeds: number of runs per model; each has its own pre-training and fine-tuning.
        settings: changes to the recipes.
        finetuning_settings: changes to the options of fine-tuning, on `questions`, too.
        workers: number of Ray workers; 0 trains in this process.
        progress: progress display.

    Returns:
        The table of scores, in Markdown.

    Raises:
        BitcipherError: if a source or the data is missing or damaged, or the directory has runs with other options.
    """
    read_task("arcd", data)  # before hours of pre-training, because files can be missing or damaged
    if questions is not None:
        read_task("squad", questions)
    results: dict[str, list[FinetuningResult]] = {}
    for seed in range(1, seeds + 1):
        for name, model in MODELS.items():
            text = [*sources, *(other if model.recipe == "masked-multilingual" else ())]
            changes = [set_sources(text), f"embeddings.init={model.init}", *settings, f"seed={seed}"]
            target = storage.join(out, f"{name.replace(', ', '-')}-{seed}")
            run = train_recipe(model.recipe, target, out, changes, workers, progress)
            untrained = {f"{name}, random weights": True} if name in UNTRAINED else {}
            for row, random_init in {name: False, **untrained}.items():
                suffix = f"{row.replace(', ', '-').replace(' ', '-')}-{seed}"
                values = {"model": run, "seed": seed, "random_init": random_init}
                if questions is not None:
                    first = values | {"task": "squad", "data": questions, "num_train_epochs": 1.0}
                    folder = storage.join(out, f"questions-{suffix}")
                    launch_finetuning(make_finetune_options(first, finetuning_settings), folder, workers, progress)
                    values = {"model": folder, "seed": seed}
                options = make_finetune_options(values | {"task": "arcd", "data": data}, finetuning_settings)
                folder = storage.join(out, f"arcd-{suffix}")
                results.setdefault(row, []).append(launch_finetuning(options, folder, workers, progress))
    table = score_table("words", results, METRICS, ("paper, exact match / F1 / sentence match", PUBLISHED))
    storage.write_bytes(storage.join(out, "scores.md"), table.encode())
    return table
