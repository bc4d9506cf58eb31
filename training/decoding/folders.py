"""A model and its tokenizer, from the folder of a run or of transformers."""

from pathlib import Path

from tokenizers import Tokenizer
from transformers import PreTrainedModel

from bitcipher import storage
from bitcipher.errors import BitcipherError
from training.data import load_tokenizer
from training.loop import checkpoint_of
from training.loop.checkpoints import CHECKPOINTS
from training.models import load_model
from training.pretrain import CONFIG, TOKENIZER


def open_model(folder: str, step: int | None = None) -> tuple[PreTrainedModel, Tokenizer]:
    """A model to write with, and the tokenizer beside it.

    Args:
        folder: of a run, or path or URI of a folder of transformers with a tokenizer.json.
        step: which checkpoint of the run; the newest if not given.

    Raises:
        BitcipherError: if there is no model, no tokenizer.json, or no such checkpoint.
    """
    tokenizer = storage.join(folder, TOKENIZER)
    path = storage.local_path(folder)
    is_run = path is not None and Path(path, CONFIG).exists()
    if not is_run and step is not None:
        raise BitcipherError(
            f"{folder} is no run of `bitcipher train`, and only runs have checkpoints: leave out the step."
        )
    model = load_model(str(_checkpoint(Path(path), step)) if is_run else folder)
    if not storage.exists(tokenizer):
        raise BitcipherError(f"There is no {TOKENIZER} in {folder}: put that of the model there, or name a run.")
    return model, load_tokenizer(tokenizer)


def _checkpoint(run: Path, step: int | None) -> Path:
    newest = checkpoint_of(run)
    chosen = newest if step is None else run / CHECKPOINTS / f"{step:08d}"
    if not chosen.is_dir():
        raise BitcipherError(f"{run} has no checkpoint of step {step:,}; its newest is of step {int(newest.name):,}.")
    return chosen
