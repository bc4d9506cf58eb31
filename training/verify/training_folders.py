"""Folders that training wrote. This module imports no library of the extra `training`, so `verify` can ask it first."""

from bitcipher import storage

STUDY = "study.json"
TOKEN_SHARDS = "text.json"
# File that each folder of a kind has.
_KINDS = {"run.json", "finetune.json", STUDY, TOKEN_SHARDS}


def find_training_folders(folder: str) -> list[str]:
    """Return the folder if it holds a run or token shards, with all folders below it that do if it holds a study.

    Args:
        folder: path or URI.

    Raises:
        BitcipherError: if a store fails.
    """
    folder = storage.absolute(folder).rstrip("/")
    if storage.exists(storage.join(folder, STUDY)):
        names = [name for name in storage.list_files(folder) if name.rpartition("/")[2] in _KINDS]
        return sorted({storage.join(folder, name).rpartition("/")[0] for name in names})
    return [folder] if any(storage.exists(storage.join(folder, kind)) for kind in _KINDS) else []
