"""The command `bitcipher`: checks that Python imports the packages of this installation, and runs the command line.

The distribution installs the packages `pipelines`, `training` and `cluster`, whose names other code can have, too.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from bitcipher.terminal import print_text

PACKAGES = ("pipelines", "training", "cluster")
# Words in the first line of each package, so that a file that another distribution replaced is noticed.
MARK = "bitcipher"


def main() -> None:
    """Run the command line. If another package has the name of one of bitcipher's, print a sentence and exit with 2."""
    for name in PACKAGES:
        if problem := find_problem(name):
            print_text(f"bitcipher: {problem}", err=True)
            sys.exit(2)
    import_module("cluster.cli.main").main()  # not an import statement, because the library does not need that package


def find_problem(name: str) -> str | None:
    """Return a sentence if Python imports another package of this name than that of this installation, else None."""
    ours = Path(__file__).parents[1] / name / "__init__.py"
    spec = find_spec(name)
    found = spec.origin if spec else None
    if found and Path(found).resolve() == ours.resolve() and MARK in _first_line(ours):
        return None
    place = found or next(iter((spec and spec.submodule_search_locations) or []), "nowhere")
    return (
        f"Python imports the package `{name}` from {place}{_owners(name)}, but that of bitcipher is {ours.parent}: "
        "remove the other package, or take its folder out of PYTHONPATH, and install bitcipher again into a virtual "
        "environment of its own."
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
