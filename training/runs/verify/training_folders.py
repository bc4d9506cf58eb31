"""Folders that training wrote. This module imports no library of the extra `training`, so `verify` can ask it first."""

from bitcipher.files import storage
from training.runs.study_declarations import study_declarations

TUNE, GRID = "tune.json", "grid.json"
TOKEN_SHARDS = "text.json"
# File that each folder of a kind has.
_KINDS = {"run.json", "finetune.json", TUNE, GRID, TOKEN_SHARDS}


def study_files() -> list[str]:
    """Return the names of the files that mark the folder of a study."""
    return [name for study in study_declarations() for name in study.folder_files]


def find_training_folders(folder: str) -> list[str]:
    """Return the folder if it holds a run or token shards; of a study, search or grid, all folders below it that do.

    Args:
        folder: path or URI.

    Raises:
        BitcipherError: if a store fails.
    """
    folder = storage.absolute(folder).rstrip("/")
    kinds = {*_KINDS, *study_files()}
    if any(storage.exists(storage.join(folder, kind)) for kind in (*study_files(), TUNE, GRID)):
        names = [name for name in storage.list_files(folder) if name.rpartition("/")[2] in kinds]
        return sorted({storage.join(folder, name).rpartition("/")[0] for name in names})
    return [folder] if any(storage.exists(storage.join(folder, kind)) for kind in kinds) else []
