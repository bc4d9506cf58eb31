"""A fine-tuning run: what is asked for is written down, then workers train."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bitcipher import storage
from pipelines.runtime.progress import StageProgress
from training.finetune import CONFIG, NOTES, PREDICTIONS, FinetuneOptions, finetune
from training.launch.run_dir import claim, work_in


def finetune_on(options: FinetuneOptions, folder: Path, workers: int, progress: StageProgress) -> dict[str, Any]:
    """Fine-tune a model, or go on with a run that was stopped.

    Args:
        options: of the run.
        folder: of the run, which all workers see.
        workers: of Ray; 0 trains in this process.
        progress: where to show how far it is.

    Returns:
        `main_figure`, `scores`, `baselines` (scores of those who have read nothing) and `remarks`.

    Raises:
        BitcipherError: if the folder holds a run of other options, or the options cannot be run.
    """
    options.loop.micro_batch_on(max(workers, 1))
    plain = json.loads(json.dumps(asdict(_with_absolute_places(options))))
    claim(folder, CONFIG, {"options": plain})

    def steps() -> int:
        return _read(folder / NOTES)["steps"]

    work_in(folder, CONFIG, finetune, {"options": plain}, steps, workers, options.loop.device, progress)
    told, found = _read(folder / NOTES), _read(folder / PREDICTIONS)
    return {
        "main_figure": told["main_figure"],
        "scores": found["scores"],
        "baselines": found["baselines"],
        "remarks": told["remarks"],
    }


def _with_absolute_places(options: FinetuneOptions) -> FinetuneOptions:
    """Workers have other working directories."""
    vectors = options.embeddings.vectors
    return replace(
        options,
        model=storage.absolute(options.model),
        data=storage.absolute(options.data),
        vocabulary=options.vocabulary and storage.absolute(options.vocabulary),
        embeddings=replace(options.embeddings, vectors=vectors and storage.absolute(vectors)),
    )


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))
