"""Folders that training wrote. This module imports no library of the extra `training`, so `verify` can ask it first."""

from bitcipher.files import storage

STUDY, TUNE, GRID = "study.json", "tune.json", "grid.json"
TOKEN_SHARDS = "text.json"
# File that each folder of a kind has.
_KINDS = {"run.json", "finetune.json", STUDY, TUNE, GRID, TOKEN_SHARDS}


def find_training_folders(folder: str) -> list[str]:
    """Return the folder if it holds a run or token shards; of a study, search or grid, all folders below it that do.

    Args:
        folder: path or URI.

    Raises:
        BitcipherError: if a store fails.
    """
    folder = storage.absolute(folder).rstrip("/")
    if any(storage.exists(storage.join(folder, kind)) for kind in (STUDY, TUNE, GRID)):
        names = [name for name in storage.list_files(folder) if name.rpartition("/")[2] in _KINDS]
        return sorted({storage.join(folder, name).rpartition("/")[0] for name in names})
    return [folder] if any(storage.exists(storage.join(folder, kind)) for kind in _KINDS) else []
