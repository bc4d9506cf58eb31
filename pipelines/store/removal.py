"""Removal of the files of jobs from folders that can also hold files of the user. Symbolic links are left alone."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.store.layout import LEASE
from pipelines.store.lease import Lease, list_generations


@contextmanager
def leasing_folder(folder: str, names: Sequence[str], has_work: Callable[[], bool]) -> Iterator[Lease]:
    """Hold the lease of a folder, and remove what the first job in it wrote if it leaves no work to resume.

    Nothing is removed if the folder was not empty before, if it had an earlier job, or if another job has taken over.
    A folder that existed before is kept.

    Args:
        folder: folder of the job.
        names: names in the folder that jobs create.
        has_work: returns whether the folder holds work to resume, or a version.

    Raises:
        BitcipherError: if another job holds the lease, or the folder cannot be written.
    """
    existed, was_empty = storage.exists(folder), not list_names(folder)
    is_removed = False
    try:
        with Lease(folder) as lease:
            try:
                yield lease
            finally:
                # Errors are ignored, because they would hide the error of the block. The next job uses what remains.
                with suppress(BitcipherError):
                    if was_empty and lease.is_first and not has_work():
                        is_removed = _remove_created(folder, names, lease)
    finally:
        if is_removed:
            remove_empty(storage.join(folder, LEASE))
            if not existed:
                remove_empty(folder)


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


def _remove_created(folder: str, names: Sequence[str], lease: Lease) -> bool:
    """Remove the files of a job, and return whether the job held its lease until the end."""
    for name in names:
        if not lease.is_held():  # a removal can take long, and another job can take over in the meantime
            return False
        remove_below(folder, name)
    lease.discard()
    return True


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
