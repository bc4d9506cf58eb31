"""The command `bitcipher`: lets the packages of this installation win, and runs the command line.

The distribution installs the packages `pipelines`, `training` and `cluster`. A user's folder or file of one of these
names, in the working directory or in PYTHONPATH, is not imported instead.
"""

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from bitcipher.terminal import print_text

PACKAGES = ("pipelines", "training", "cluster")
# Words in the first line of each package, so that a file that another distribution replaced is noticed.
MARK = "bitcipher"

# Number of new objects after which Python searches for garbage. Its default is 700 up to Python 3.12. Imports make a
# quarter of a million objects that are no garbage, and the searches took a sixth of the time of a small build.
_COLLECTED_OBJECTS = 5000

_INSTALLATION = Path(__file__).parents[1]


class OwnPackages:
    """Finder of the packages of this installation. It comes before Python's other finders."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the place of a package of this installation, or None for other modules."""
        return PathFinder.find_spec(name, [str(_INSTALLATION)], target) if name in PACKAGES else None


def find_own_packages_first() -> None:
    """Let the packages of this installation win over others of their names in this process."""
    sys.meta_path.insert(0, OwnPackages)


def main() -> None:
    """Run the command line. If other code has replaced a package of bitcipher, print a sentence and exit with 2."""
    gc.set_threshold(_COLLECTED_OBJECTS)
    find_own_packages_first()
    for name in PACKAGES:
        if problem := find_problem(name):
            print_text(f"bitcipher: {problem}", err=True)
            sys.exit(2)
    try:
        import_module("cluster.cli.main").main()  # no import statement: the library does not need the package
    finally:
        gc.freeze()  # otherwise Python searches all objects for garbage when it exits, 0.8 CPU seconds after a build


def find_problem(name: str) -> str | None:
    """Return a sentence if a package was imported before from another place, or its file was replaced, else None."""
    ours = _INSTALLATION / name / "__init__.py"
    spec = find_spec(name)
    found = spec.origin if spec else None
    if found and Path(found).resolve() == ours.resolve() and MARK in _first_line(ours):
        return None
    place = found or next(iter((spec and spec.submodule_search_locations) or []), "nowhere")
    return (
        f"Python imports the package `{name}` from {place}{_owners(name)}, but that of bitcipher is {ours.parent}: "
        "remove the other package, and install bitcipher again into a virtual environment of its own."
    )


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as lines:
        return next(lines, "")


def _owners(name: str) -> str:
    """Return the other distributions that have a package of this name, in brackets."""
    from importlib.metadata import packages_distributions  # takes 0.3 s

    others = [each for each in packages_distributions().get(name, []) if each != "bitcipher"]
    return f" ({', '.join(others)})" if others else ""


if __name__ == "__main__":
    main()
