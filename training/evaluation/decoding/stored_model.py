"""Loading of a model and its tokenizer from a run or a transformers folder."""

from tokenizers import Tokenizer
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.file_digests import check_stored_digests
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.loop.checkpoint_folders import find_checkpoint
from training.loop.file_names import CONFIG, TOKENIZER
from training.models.checkpoint import load_model


def open_model(folder: str, step: int | None = None) -> tuple[PreTrainedModel, Tokenizer]:
    """Return a model and its tokenizer.

    Args:
        folder: path or URI of a run, or of a transformers folder with a tokenizer.json.
        step: step of the run's checkpoint to load; by default the latest.

    Raises:
        BitcipherError: if there is no model, no tokenizer.json, no such checkpoint, or a file of a run is damaged.
    """
    tokenizer = storage.join(folder, TOKENIZER)
    is_run = storage.exists(storage.join(folder, CONFIG))
    if not is_run and step is not None:
        raise BitcipherError(f"{folder} is not a run of `bitcipher train`, so it has no checkpoints; omit the step.")
    model = load_model(find_checkpoint(folder, step) if is_run else folder)
    if not storage.exists(tokenizer):
        raise BitcipherError(f"There is no {TOKENIZER} in {folder}; put the model's tokenizer there, or give a run.")
    check_stored_digests(folder, [TOKENIZER])
    return model, load_tokenizer(tokenizer)
