"""Removal of the files of jobs from folders that can also hold files of the user. Symbolic links are left alone."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate

from bitcipher.files import storage
from pipelines.store.lease import Lease, list_generations


@contextmanager
def leasing_work(target: str) -> Iterator[str]:
    """Yield a new folder for temporary files next to a target, and remove it at the end.

    Args:
        target: path or URI that the files are for.

    Raises:
        BitcipherError: if the folder cannot be written.
    """
    with storage.temporary_folder(target) as folder, Lease(folder):
        yield folder


def remove_abandoned_work(target: str) -> None:
    """Remove folders of `leasing_work` that killed processes of this machine left next to a local target.

    They have a name that only `leasing_work` gives, and either the lease of a process that has ended, or no file.

    Raises:
        BitcipherError: if a folder cannot be removed.
    """
    path = storage.local_path(target)
    if path is None or not os.path.isdir(os.path.dirname(path)):
        return
    pattern = re.compile(re.escape(os.path.basename(path)) + r"\.[0-9a-f]{32}\.tmp")
    for name in filter(pattern.fullmatch, os.listdir(os.path.dirname(path))):
        folder = storage.join(os.path.dirname(path), name)
        has_ended = list_generations(folder) and Lease(folder).holder() is None
        if has_ended or not storage.list_files(folder):  # it can have been killed before it held the lease
            storage.remove(folder)


def remove_below(folder: str, name: str) -> None:
    """Remove a file or a folder below a folder, unless it is a symbolic link or behind one.

    Args:
        folder: path or URI, which can itself be a symbolic link.
        name: path relative to the folder.

    Raises:
        BitcipherError: if it cannot be removed.
    """
    if not any(storage.is_link(storage.join(folder, each)) for each in accumulate(name.split("/"), storage.join)):
        storage.remove(storage.join(folder, name))


def list_names(folder: str) -> set[str]:
    """Return the names of all files, folders and symbolic links in a folder; none if it does not exist.

    Raises:
        BitcipherError: if the folder cannot be listed.
    """
    names = {name.split("/")[0] for name in storage.list_files(folder, unfinished=True)}
    path = storage.local_path(folder)
    return names.union(os.listdir(path)) if path is not None and os.path.isdir(path) else names


def remove_empty(folder: str) -> None:
    """Remove a folder on a local disk if it is empty. Object stores have no empty folders."""
    path = storage.local_path(folder)
    if path is not None:
        with suppress(OSError):  # not empty, missing, or a symbolic link
            os.rmdir(path)
