"""Folders that training wrote. This module imports no library of the extra `training`, so `verify` can ask it first."""

import os

from bitcipher import storage

STUDY = "study.json"
TOKEN_SHARDS = "text.json"
# File that each folder of a kind has.
_KINDS = {"run.json", "finetune.json", STUDY, TOKEN_SHARDS}


def find_training_folders(folder: str) -> list[str]:
    """Return the folder if it holds a run or token shards, with all folders below it that do if it holds a study.

    A folder in an object store holds none, because training needs a file system.
    """
    path = storage.local_path(storage.absolute(folder))
    if path is None or not os.path.isdir(path):
        return []
    names = storage.list_files(path) if os.path.exists(storage.join(path, STUDY)) else os.listdir(path)
    return sorted({os.path.dirname(storage.join(path, name)) for name in names if os.path.basename(name) in _KINDS})
