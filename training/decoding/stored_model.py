"""Loading of a model and its tokenizer from a run or a transformers folder."""

from pathlib import Path

from tokenizers import Tokenizer
from transformers import PreTrainedModel

from bitcipher import storage
from bitcipher.errors import BitcipherError
from training.data import load_tokenizer
from training.file_digests import check_stored_digests
from training.loop import latest_checkpoint
from training.loop.checkpoint_folders import CHECKPOINTS, read_checkpoint_digests
from training.models import load_model
from training.run_files import CONFIG, TOKENIZER


def open_model(folder: str, step: int | None = None) -> tuple[PreTrainedModel, Tokenizer]:
    """Return a model and its tokenizer.

    Args:
        folder: folder of a run, or path or URI of a transformers folder with a tokenizer.json.
        step: step of the run's checkpoint to load; by default the latest.

    Raises:
        BitcipherError: if there is no model, no tokenizer.json, no such checkpoint, or a file of a run is damaged.
    """
    tokenizer = storage.join(folder, TOKENIZER)
    path = storage.local_path(folder)
    run = Path(path) if path is not None and Path(path, CONFIG).exists() else None
    if run is None and step is not None:
        raise BitcipherError(f"{folder} is not a run of `bitcipher train`, so it has no checkpoints; omit the step.")
    model = load_model(folder if run is None else str(_checkpoint(run, step)))
    if not storage.exists(tokenizer):
        raise BitcipherError(f"There is no {TOKENIZER} in {folder}; put the model's tokenizer there, or give a run.")
    check_stored_digests(folder, [TOKENIZER])
    return model, load_tokenizer(tokenizer)


def _checkpoint(run: Path, step: int | None) -> Path:
    latest = latest_checkpoint(run)
    checkpoint = latest if step is None else run / CHECKPOINTS / f"{step:08d}"
    if not checkpoint.is_dir():
        raise BitcipherError(f"{run} has no checkpoint of step {step:,}; its latest is step {int(latest.name):,}.")
    read_checkpoint_digests(checkpoint)  # each checkpoint of a run has them
    return checkpoint
