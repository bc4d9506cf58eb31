"""Folders of Hugging Face datasets, as `Dataset.save_to_disk` and `DatasetDict.save_to_disk` write them."""

import re
from typing import Annotated, Any

from fsspec import AbstractFileSystem
from pydantic import ConfigDict, Field

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.records import FROM_LIST, Record, Strings

# Files in the folder of a dataset, and in the folder of a dictionary of datasets, one per split.
DATASET = ("state.json", "dataset_info.json")
DICTIONARY = "dataset_dict.json"

_SPLIT = re.compile(r"(.+)\?split=([^/?&=]+)")


class _ArrowFile(Record):
    filename: str = Field(pattern=r"^[\w.-]+\.arrow$")


class _State(Record):
    """Fields of `state.json` that list the Arrow files."""

    model_config = ConfigDict(extra="ignore")

    files: Annotated[tuple[_ArrowFile, ...], FROM_LIST] = Field(alias="_data_files")
    split: str | None = Field(None, alias="_split")


class _Dictionary(Record):
    """Fields of `dataset_dict.json`."""

    model_config = ConfigDict(extra="ignore")

    splits: Strings


def split_pattern(pattern: str) -> tuple[str, str | None]:
    """Return folder and split of a pattern such as `folder?split=train`; for other patterns, the pattern and None."""
    match = _SPLIT.fullmatch(pattern)
    is_folder = match is not None and not storage.is_web_address(pattern) and not pattern.startswith("hf://")
    return (match[1], match[2]) if match and is_folder else (pattern, None)


def find_arrow_files(
    filesystem: AbstractFileSystem, folder: str, path: str, split: str | None
) -> list[dict[str, Any]] | None:
    """Return the Arrow files of a dataset as fsspec's entries, or None if the folder is not a dataset.

    Args:
        filesystem: file system of the folder.
        folder: URI of the folder.
        path: path of the folder in the file system.
        split: the split to read, or None for all.

    Raises:
        BitcipherError: if a file is missing or damaged, or there is no such split.
    """
    entries = {each["name"].rstrip("/").rpartition("/")[2]: each for each in filesystem.ls(path, detail=True)}
    if DICTIONARY in entries:
        splits = _Dictionary.read(storage.join(folder, DICTIONARY)).splits
        names = splits if split is None else tuple(each for each in splits if each == split)
        _check_split(folder, split, splits, names)
        found = []
        for name in names:
            path_of_split = f"{path.rstrip('/')}/{name}"
            files = find_arrow_files(filesystem, storage.join(folder, name), path_of_split, None)
            if files is None:
                raise BitcipherError(f"{storage.join(folder, name)} is not a dataset: restore it from a copy.")
            found += files
        return found
    if not all(name in entries for name in DATASET):
        if split is not None:
            raise BitcipherError(f"{folder} is not a folder that `save_to_disk` wrote: leave out ?split={split}.")
        return None
    state = _State.read(storage.join(folder, DATASET[0]))
    _check_split(folder, split, (state.split,) if state.split else (), state.split == split or split is None)
    missing = [file.filename for file in state.files if file.filename not in entries]
    if missing:
        raise BitcipherError(f"{storage.join(folder, missing[0])} is missing: restore the file from a copy.")
    return [entries[file.filename] for file in state.files]


def _check_split(folder: str, split: str | None, splits: tuple[str, ...], is_known: object) -> None:
    if not is_known:
        choices = f"choose {', '.join(splits)}" if splits else "it is a single dataset, so leave out ?split="
        raise BitcipherError(f"{folder} has no split {split!r}: {choices}.")
