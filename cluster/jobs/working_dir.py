"""What a job is sent: the packages of this installation, and optionally a directory of small files to start in."""

import os
import shutil
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from bitcipher.errors import BitcipherError
from cluster.jobs.known_secrets import describe_file
from cluster.jobs.shadowing import shadowing_modules

PACKAGES = ("bitcipher", "pipelines", "training", "cluster")

# Suffixes of the files that belong to the packages. A checkout can contain other files.
CODE_SUFFIXES = {".py", ".yaml", ".html", ".css", ".js"}

# Maximum size of `--working-dir`. A recipe, a word list and a tokenizer take a few MB.
MAX_EXTRA_BYTES = 50_000_000


def pack_code(target: Path) -> list[Path]:
    """Copy the packages into a directory, and return their folders there.

    The result is the same for a checkout and an installation of the same code.
    """
    for name in PACKAGES:
        source = Path(import_module(name).__path__[0])
        for file in sorted(source.rglob("*")):
            if file.suffix in CODE_SUFFIXES and file.is_file():
                copy = target / name / file.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
    return [target / name for name in PACKAGES]


def pack_files(target: Path, working_dir: str | None = None, include: Sequence[str] = ()) -> None:
    """Copy the files that a job needs into the directory that it starts in.

    Args:
        target: existing, empty directory.
        working_dir: directory of small files (`--working-dir`).
        include: paths in `working_dir` of files that are sent although they are hidden or hold a secret (`--include`).

    Raises:
        BitcipherError: if `working_dir` does not exist, is too large, contains a file with a secret that `include` does
            not name, a module that would be imported instead of another, or a link to a file outside of it, or if it
            has no file that `include` names.
    """
    if working_dir is not None:
        _copy_files(Path(working_dir), target, {Path(name) for name in include})
    elif include:
        raise BitcipherError("`--include` names files of the directory that `--working-dir` gives: give both.")


def _copy_files(folder: Path, target: Path, include: set[Path]) -> None:
    if not folder.is_dir():
        raise BitcipherError(f"The directory {folder} of --working-dir does not exist.")
    paths = [entry.relative_to(folder) for entry in sorted(folder.rglob("*"))]
    entries = [folder / path for path in paths if path in include or not _is_hidden(path)]
    _check_links(folder, entries)
    files = {entry.relative_to(folder): entry for entry in entries if entry.is_file()}
    if missing := sorted(map(str, include - files.keys())):
        raise BitcipherError(
            f"{folder} has no file {', '.join(missing)}: `--include` takes the path of a file in this directory."
        )
    size = sum(file.stat().st_size for file in files.values())
    if size > MAX_EXTRA_BYTES:
        raise BitcipherError(
            f"The directory {folder} has {size / 1e6:,.0f} MB, but at most {MAX_EXTRA_BYTES / 1e6:.0f} MB can be sent "
            "with the job: give text and vectors as URIs, or as paths that every node sees."
        )
    if shadowing := shadowing_modules(files):
        raise BitcipherError(
            f"{folder} has {', '.join(shadowing)}, which Python would import instead of the module or package of this "
            "name, because the job starts in this directory: rename or remove it."
        )
    _check_secrets(folder, {name: file for name, file in files.items() if name not in include})
    for name, file in files.items():
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def _check_secrets(folder: Path, files: Mapping[Path, Path]) -> None:
    """Check that no file holds a secret, because everyone who sees the job can read what is sent."""
    described = {name: describe_file(str(name), file.read_bytes()) for name, file in files.items()}
    found = [f"{name} ({what})" for name, what in described.items() if what]
    if found:
        raise BitcipherError(
            f"{folder} has {', '.join(found)}, which everyone who sees the job could read: move it to another "
            "directory, or send it anyway with `--include` and its path in this directory."
        )


def _check_links(folder: Path, entries: list[Path]) -> None:
    """Check that links lead to files that are sent anyway, because everyone who sees the job can read what is sent."""
    inside = Path(os.path.realpath(folder))
    for link in filter(Path.is_symlink, entries):
        target = Path(os.path.realpath(link))
        if not target.is_relative_to(inside) or _is_hidden(target.relative_to(inside)):
            raise BitcipherError(
                f"{link} is a symbolic link to {target}, which --working-dir does not send: put a copy of the file in "
                "its place, or remove the link."
            )


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)
