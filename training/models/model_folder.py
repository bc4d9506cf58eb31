"""Files of a model folder. This module is imported to check options, so it does not import torch."""

from bitcipher.errors import BitcipherError
from bitcipher.files import storage

MODEL_CONFIG = "config.json"
GENERATION = "generation_config.json"
WEIGHTS = "model.safetensors"
WEIGHTS_INDEX = "model.safetensors.index.json"
# State of the optimizer, in a checkpoint of a run.
OPTIMIZER = "optimizer.safetensors"


def check_model_folder(folder: str) -> None:
    """Check that a folder holds a model, or something that may be a run.

    Raises:
        BitcipherError: if the folder is missing, or has other files only.
    """
    names = storage.list_files(folder)
    if MODEL_CONFIG not in names and not any(name.endswith(f"/{MODEL_CONFIG}") for name in names):
        raise missing_model(folder)


def list_model_files(folder: str) -> list[str]:
    """Return the files that determine the model in a folder: its configuration and weights.

    Raises:
        BitcipherError: if there is no model.
    """
    names = [name for name in storage.list_files(folder) if "/" not in name]
    if MODEL_CONFIG not in names:
        raise missing_model(folder)
    plain = {MODEL_CONFIG, GENERATION, WEIGHTS_INDEX}
    own = [name for name in names if name in plain or (name.endswith(".safetensors") and name != OPTIMIZER)]
    return [storage.join(folder, name) for name in sorted(own)]


def missing_model(folder: str) -> BitcipherError:
    """Return the error for a folder without a model."""
    return BitcipherError(
        f"There is no model in {folder}; give a folder that holds config.json and model.safetensors. "
        "Models are not downloaded by name."
    )
