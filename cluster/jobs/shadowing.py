"""Names of modules in the working directory of a job, which Python would import instead of others."""

import sys
import sysconfig
from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, PathFinder
from pathlib import Path

# Suffixes of modules, the longest first. Python also imports bytecode without its source.
_SUFFIXES = sorted([*SOURCE_SUFFIXES, ".pyc", *EXTENSION_SUFFIXES], key=len, reverse=True)


def shadowing_modules(files: Iterable[Path]) -> list[str]:
    """Return the modules and packages among files that shadow the standard library or an installed package.

    Args:
        files: paths relative to the directory in which Python starts.

    Returns:
        Names such as `random.py` and `typing/`, sorted.
    """
    return sorted({f"{path.parts[0]}/" if len(path.parts) > 1 else path.name for path in files if _shadows(path)})


def _shadows(path: Path) -> bool:
    suffix = next((each for each in _SUFFIXES if path.name.endswith(each)), None)
    if suffix is None or len(path.parts) > 2:  # the files of a package are directly in its folder
        return False
    return _is_installed(path.parts[0] if len(path.parts) > 1 else path.name.removesuffix(suffix))


def _is_installed(name: str) -> bool:
    if not name.isidentifier():
        return False
    # Not all of `sys.path`, which can hold the current directory.
    folders = {sysconfig.get_path(scheme) for scheme in ("purelib", "platlib")}
    return name in sys.stdlib_module_names or PathFinder.find_spec(name, sorted(folders)) is not None
