"""What travels to a cluster: the code of this installation, and at most a folder of small files; never data."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from bitcipher.errors import BitcipherError

PACKAGES = ("bitcipher", "pipelines", "training", "cluster")

# What the packages are made of; a checkout may hold other things among them.
CODE_ENDINGS = {".py", ".yaml", ".html", ".css", ".js"}

# The code is less than 1 MB. A recipe, a word list and a tokenizer are a few more; what is larger is data.
MOST_BYTES_ALONG = 50_000_000


def pack(target: Path, along: str | None = None) -> None:
    """Copy the packages, and what goes along with them, into a folder that a job can start in.

    The same code gives the same files from a checkout as from an installation.

    Args:
        target: the folder, which is there and empty.
        along: a folder of small files, for `--working-dir`.

    Raises:
        BitcipherError: if that folder is not there, is too large, or holds a name of a package.
    """
    if along is not None:
        _copy_along(Path(along), target)
    for name in PACKAGES:
        (source,) = map(Path, find_spec(name).submodule_search_locations)
        for file in sorted(source.rglob("*")):
            if file.suffix in CODE_ENDINGS and file.is_file():
                copy = target / name / file.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)


def _copy_along(folder: Path, target: Path) -> None:
    if not folder.is_dir():
        raise BitcipherError(f"There is no folder {folder} to send along.")
    taken = next((name for name in PACKAGES if (folder / name).exists()), None)
    if taken:
        raise BitcipherError(
            f"The folder {folder} holds `{taken}`, as a package of bitcipher is called: the code travels by itself; "
            "name a folder of the other files that the job needs."
        )
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and not _is_hidden(file.relative_to(folder))]
    size = sum(file.stat().st_size for file in files)
    if size > MOST_BYTES_ALONG:
        raise BitcipherError(
            f"The folder {folder} holds {size / 1e6:,.0f} MB, and {MOST_BYTES_ALONG / 1e6:.0f} MB may travel with the "
            "code: give text and vectors by URI, or by a path that every node sees."
        )
    for file in files:
        copy = target / file.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)
