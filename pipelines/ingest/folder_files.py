"""Files in folders and globs: those that are read, and counts of those that are not."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

from fsspec import AbstractFileSystem

from pipelines.ingest.content_kinds import compression_of_name

# Names of folders and files that are no data: temporary and hidden ones, such as `_temporary`, `_SUCCESS` and
# `.part-0.crc` of Spark, and `__MACOSX` in archives of macOS. Hive's folders, such as `_date=2024`, are data.
_HIDDEN = re.compile(r"\..*|_[^=]*")

_WILDCARD = re.compile(r"[*?[]")

# Number of endings to name.
ENDINGS = 8


class SkippedFiles:
    """Counts of the files of a folder or a glob that are not read.

    Args:
        pattern: the folder or glob.
    """

    def __init__(self, pattern: str):
        self._pattern = pattern
        self.hidden = 0
        """Number of hidden and temporary files, and folders of them."""
        self._endings: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add_unknown(self, path: str) -> None:
        """Count a file with an unknown ending."""
        name = path.rpartition("/")[2]
        compression = compression_of_name(name)
        stem, dot, ending = name.removesuffix(compression).rpartition(".")
        known = f".{ending}{compression}" if dot and stem else compression or "no ending"
        self._endings[known] += 1
        self._examples[known] = min(name, self._examples.get(known, name))

    def describe(self) -> str | None:
        """Return a sentence that names the numbers and the endings of the files, or None if all files are read."""
        parts = []
        for ending, number in self._endings.most_common(ENDINGS):
            noun = "with no ending" if ending == "no ending" else ending
            parts.append(f"{number:,} {noun} (such as {self._examples[ending]})")
        others = self._endings.total() - sum(number for _, number in self._endings.most_common(ENDINGS))
        if others:
            parts.append(f"{others:,} with other endings")
        if self.hidden:
            parts.append(f"{self.hidden:,} hidden or temporary (names that begin with . or _)")
        if not parts:
            return None
        return (
            f"Not read in {self._pattern}: {', '.join(parts)}. To read such files, give their names, and the format "
            "(`--format`) of unknown endings."
        )


def walk_folder(filesystem: AbstractFileSystem, folder: str, skipped: SkippedFiles) -> Iterator[dict[str, Any]]:
    """Yield the files of a folder and its folders as fsspec's entries, without hidden and temporary ones."""
    # Not fsspec's `walk`, which silently skips folders that cannot be listed.
    for entry in filesystem.ls(folder, detail=True):
        path = entry["name"].rstrip("/")
        if path == folder.rstrip("/"):
            continue  # the marker of the folder itself, which object stores list among its files
        if _HIDDEN.fullmatch(path.rpartition("/")[2]):
            skipped.hidden += 1
        elif entry["type"] == "directory":
            yield from walk_folder(filesystem, path, skipped)
        else:
            yield entry


def match_glob(filesystem: AbstractFileSystem, glob: str, skipped: SkippedFiles) -> Iterator[dict[str, Any]]:
    """Yield the files that match a glob as fsspec's entries, without those that are hidden from a wildcard."""
    if not _WILDCARD.search(glob):
        return
    fixed = _WILDCARD.split(glob)[0].rpartition("/")[0]
    # A wildcard does not match the first character of a hidden name, but a pattern can begin with it, as in a shell.
    given = {part[0] for part in glob.removeprefix(fixed).split("/") if part}
    for entry in cast(dict[str, dict[str, Any]], filesystem.glob(glob, detail=True)).values():
        names = entry["name"].removeprefix(fixed).split("/")
        if entry["type"] == "directory":
            continue
        if any(_HIDDEN.fullmatch(name) and name[0] not in given for name in names):
            skipped.hidden += 1
        else:
            yield entry
