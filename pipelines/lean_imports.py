"""Imports of libraries without others that they would import, in processes that only run commands and stages.

spaCy imports torch if it is installed, which takes 2 CPU seconds and 240 MB per process. Its neural components need it,
but its tokenizer does not. It also imports its own command line for `spacy.info`, with clients of web servers and a
template engine, which takes 0.2 CPU seconds.

Arrow imports pandas, if it is installed, when it converts the first value of Python or NumPy, because the value could
be one of pandas. This takes 0.3 CPU seconds and 40 MB.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_leaves_out_torch = False


class _NoCommand(ModuleType):
    """Stand-in for the module of a command of spaCy. Each name in it is None."""

    def __getattr__(self, name: str) -> None:
        return None


class _ArrowFinder:
    """Finder of Arrow that lets it find no pandas when it looks for it the first time."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the place of Arrow with a loader that leaves out pandas, or None for other modules."""
        if name != "pyarrow":
            return None
        sys.meta_path.remove(cls)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_without_pandas(module: ModuleType) -> None:
                execute(module)
                _look_for_pandas_in_vain(module)

            spec.loader.exec_module = execute_without_pandas
        return spec


class _NoPandas:
    """Finder that finds no pandas."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        """Raise the error of a missing module for pandas."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _look_for_pandas_in_vain(arrow: Any) -> None:
    """Let Arrow look for pandas, which it does once, until a value is converted to pandas."""
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _NoPandas)
    try:
        arrow.scalar(0)
    finally:
        sys.meta_path.remove(_NoPandas)


def leave_out_torch_and_pandas() -> None:
    """Let `import_spacy` leave out torch and spaCy's commands, and Arrow pandas. Call it where no other code runs.

    In a process of a user, spaCy must find torch, because the user can load a pipeline that needs it, and Arrow must
    know values of pandas.
    """
    global _leaves_out_torch
    _leaves_out_torch = True
    if "pyarrow" in sys.modules:
        _look_for_pandas_in_vain(sys.modules["pyarrow"])
    else:
        sys.meta_path.insert(0, _ArrowFinder)


def import_spacy() -> None:
    """Import spaCy. Call it before the import of a module that imports spaCy."""
    if "spacy" in sys.modules:
        return
    if not _leaves_out_torch:
        import_module("spacy")
        return
    left_out: dict[str, ModuleType | None] = {"spacy.cli.info": _NoCommand("spacy.cli.info")}
    if "torch" not in sys.modules:
        left_out["torch"] = None  # so that `import torch` raises ImportError
    with _replacing_modules(left_out):
        import_module("spacy")


@contextmanager
def _replacing_modules(modules: dict[str, ModuleType | None]) -> Iterator[None]:
    """Let imports in the `with` block find these modules, and remove them afterwards."""
    sys.modules.update(modules)  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in modules:
            sys.modules.pop(name, None)  # another thread can have removed it
