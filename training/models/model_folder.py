"""Check of a model folder before libraries are loaded that read it."""

from bitcipher import storage
from bitcipher.errors import BitcipherError

MODEL_CONFIG = "config.json"


def check_model_folder(folder: str) -> None:
    """Check that a folder holds a model, or something that may be a run.

    Raises:
        BitcipherError: if the folder is missing, or has other files only.
    """
    names = storage.list_files(folder)
    if MODEL_CONFIG not in names and not any(name.endswith(f"/{MODEL_CONFIG}") for name in names):
        raise missing_model(folder)


def missing_model(folder: str) -> BitcipherError:
    """Return the error for a folder without a model."""
    return BitcipherError(
        f"There is no model in {folder}; give a folder that holds config.json and model.safetensors. "
        "Models are not downloaded by name."
    )
