"""`kernel`, numba's `njit` with a cache on disk that notices changes of imported modules.

numba caches compiled code next to the module of a function, and compiles again if the file of that module has changed.
The code also contains the functions and constants that the module imports, which numba does not look at: after an
update of an editable installation, old code would run. The cache of a `kernel` is keyed by the sources of its module
and of all modules of this project that it imports.
"""

import hashlib
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

# Packages whose imports are followed, besides that of the kernel itself.
_PACKAGES = frozenset({"bitcipher", "pipelines"})
_IMPORT = re.compile(r"^(?:from ([\w.]+) )?import (\([^)]*\)|.*)", re.MULTILINE)
_NAME = re.compile(r"[\w.]+")


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function with numba, without the interpreter's lock, and cache the compiled code on disk.

    Args:
        function: the function, if the decorator is used without options.
        options: further options of `numba.njit`.
    """
    if function is None:
        return partial(kernel, **options)
    compiled: Any = njit(nogil=True, **options)(function)
    if hasattr(compiled, "_cache"):  # not with NUMBA_DISABLE_JIT, where it is the function itself
        compiled._cache = _KernelCache(function)
    return compiled


class _KernelCache(FunctionCache):
    """numba's cache of a function, with the sources of all modules that its code depends on as the stamp."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)
        path, module = Path(function.__code__.co_filename), function.__module__
        if path.exists():  # else numba's own stamp, such as for a module in a zip archive
            stamp = sources_digest(path, path.parents[module.count(".")], module.partition(".")[0])
            self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)


@cache
def sources_digest(path: Path, root: Path, package: str) -> str:
    """Return the SHA-256 of the sources of a module and of all modules of the project that it imports.

    Args:
        path: file of the module.
        root: folder of the top packages.
        package: name of a package whose imports are followed, too.
    """
    sources: dict[Path, bytes] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in sources:
            sources[file] = file.read_bytes()
            waiting += _imported_files(sources[file].decode(), root, _PACKAGES | {package})
    digest = hashlib.sha256()
    for file in sorted(sources):
        digest.update(f"{file.relative_to(root)} {len(sources[file])} ".encode() + sources[file])
    return digest.hexdigest()


def _imported_files(source: str, root: Path, packages: frozenset[str]) -> list[Path]:
    """Return the files of the modules that top-level statements of a source import from packages."""
    files: list[Path] = []
    for module, names in _IMPORT.findall(source):
        imported = [module, *(f"{module}.{name}" for name in _NAME.findall(names))] if module else _NAME.findall(names)
        for name in imported:
            if name.partition(".")[0] in packages:
                path = root.joinpath(*name.split("."))
                files += filter(Path.is_file, (path.with_suffix(".py"), path / "__init__.py"))
    return files
