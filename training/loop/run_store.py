"""Runs in a store: the working copy of a process, downloads of checkpoints, and uploads of metrics and checkpoints.

This module does not import torch.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.file_digests import DIGESTS
from bitcipher.files.node_cache import cache_folder, copy_file, locking_folder
from bitcipher.redaction import redact
from pipelines.store.removal import leasing_work, remove_abandoned_work
from training.loop.checkpoint_folders import checkpoint_names, is_checkpoint_name, superseded_checkpoints
from training.loop.file_names import CHECKPOINTS, METRICS
from training.loop.options import TRACKERS
from training.loop.stop_request import RUN_LEASE


class RunStore:
    """A run in a store, and the working copy of this process.

    Args:
        uri: URI of the run.
        folder: folder of the working copy.
    """

    def __init__(self, uri: str, folder: Path):
        self.uri = uri
        """URI of the run."""
        self.folder = folder
        """Folder of the working copy."""
        self._uploaded: dict[str, tuple[int, int]] = {}

    def name_uri(self, text: str) -> str:
        """Return a text with the URI of the run instead of the folder of its working copy."""
        return text.replace(str(self.folder), redact(self.uri))

    def download_checkpoints(self) -> Iterator[Path]:
        """Download the metrics, and then each checkpoint when it is asked for, the latest first; yield their folders.

        Raises:
            BitcipherError: if the store or the disk fails.
        """
        names = checkpoint_names(self.uri)
        if names:
            self._download([METRICS])
        for name in reversed(names):
            self._download(f"{CHECKPOINTS}/{name}/{file}" for file in self._files_of(name))
            yield self.folder / CHECKPOINTS / name

    def remove_checkpoints_after(self, latest: str | None) -> None:
        """Remove later checkpoints than the given one from the store, and what killed jobs left of checkpoints.

        Args:
            latest: name of a checkpoint; None removes all.
        """
        complete = checkpoint_names(self.uri)
        kept = complete[: complete.index(latest) + 1] if latest in complete else []
        for name in sorted(self._stored_names() - set(kept)):
            self._remove_checkpoint(name)

    def upload_files(self) -> None:
        """Upload the files of the working copy that changed since the last upload, except for checkpoints.

        Raises:
            BitcipherError: if the store fails.
        """
        # Links of trackers lead to files of the node.
        paths = (path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink())
        for path in sorted(paths, key=lambda path: (path.name == METRICS, path)):  # readers look for the metrics first
            name, status = path.relative_to(self.folder).as_posix(), path.stat()
            state = (status.st_size, status.st_mtime_ns)
            if not name.startswith(f"{CHECKPOINTS}/") and self._uploaded.get(name) != state:
                copy_file(str(path), storage.join(self.uri, name))
                self._uploaded[name] = state

    def upload_checkpoint(self, checkpoint: Path, limit: int | None) -> None:
        """Upload a checkpoint, its digests last, and remove older ones; see `superseded_checkpoints`.

        Raises:
            BitcipherError: if the store fails.
        """
        self.upload_files()
        paths = [path for path in checkpoint.rglob("*") if path.is_file()]
        for path in sorted(paths, key=lambda path: path.name == DIGESTS):
            name = path.relative_to(checkpoint).as_posix()
            copy_file(str(path), storage.join(self.uri, CHECKPOINTS, checkpoint.name, name))
        for name in superseded_checkpoints(self.uri, limit):
            self._remove_checkpoint(name)

    def _download(self, names: Iterable[str]) -> None:
        for name in names:
            copy_file(storage.join(self.uri, name), str(self.folder / name))

    def _files_of(self, checkpoint: str) -> list[str]:
        names = storage.list_files(storage.join(self.uri, CHECKPOINTS, checkpoint))
        return [name for name in names if ".." not in name.split("/")]

    def _stored_names(self) -> set[str]:
        names = {name.split("/")[0] for name in storage.list_files(storage.join(self.uri, CHECKPOINTS))}
        return set(filter(is_checkpoint_name, names))

    def _remove_checkpoint(self, name: str) -> None:
        folder = storage.join(self.uri, CHECKPOINTS, name)
        storage.remove(storage.join(folder, DIGESTS))  # first, so that the rest is no checkpoint
        storage.remove(folder)


@contextmanager
def opening_run(folder: str) -> Iterator[tuple[Path, RunStore | None]]:
    """Yield the local folder of a run that this process trains, and its store; None if the run is on a disk.

    In a store, the folder is an empty working copy, which is removed at the end. Errors name the URI instead of it.

    Args:
        folder: path or URI of the run.

    Raises:
        BitcipherError: if the working copy cannot be written.
    """
    path = storage.local_path(folder)
    if path is not None:
        yield Path(path), None
        return
    with _working_copy(folder) as copy:
        yield copy, RunStore(folder.rstrip("/"), copy)


@contextmanager
def copying_run(folder: str, *, with_checkpoints: bool = False) -> Iterator[Path]:
    """Yield the local folder of a run to read: the folder itself on a disk, else a copy, which is removed at the end.

    The copy has no files of trackers, and has the digests of all checkpoints.

    Args:
        folder: path or URI of the run.
        with_checkpoints: whether the copy has the other files of checkpoints, too.

    Raises:
        BitcipherError: if the store fails, or the copy cannot be written.
    """
    path = storage.local_path(folder)
    if path is not None:
        yield Path(storage.absolute(folder))
        return
    with _working_copy(folder) as copy:
        complete = checkpoint_names(folder)
        # The digests of checkpoints before the metrics, because a job may be appending to them.
        names = [f"{CHECKPOINTS}/{name}/{DIGESTS}" for name in complete]
        checkpoints = tuple(f"{CHECKPOINTS}/{name}/" for name in complete)
        left_out = tuple(f"{each}/" for each in (CHECKPOINTS, RUN_LEASE, *TRACKERS))
        for name in storage.list_files(folder):
            is_needed = with_checkpoints if name.startswith(checkpoints) else not name.startswith(left_out)
            if is_needed and ".." not in name.split("/"):  # such a file would be written elsewhere on this disk
                names.append(name)
        for name in dict.fromkeys(names):
            copy_file(storage.join(folder, name), str(copy / name))
        yield copy


@contextmanager
def _working_copy(uri: str) -> Iterator[Path]:
    """Yield an empty folder with the name of a run, and replace its path by the URI of the run in errors."""
    name = uri.rstrip("/").rpartition("/")[2]
    parent = cache_folder() / "runs"
    with ExitStack() as stack:
        with locking_folder(parent):  # so that no process removes a folder that another one has just created
            remove_abandoned_work(str(parent / name))
            work = stack.enter_context(leasing_work(str(parent / name)))
        copy = Path(work, name)
        copy.mkdir()
        try:
            yield copy
        except BitcipherError as error:
            error.args = (str(error).replace(str(copy), redact(uri.rstrip("/"))),)
            raise
