"""Import of spaCy without torch and without its commands, in processes that only run commands and stages of bitcipher.

spaCy imports torch if it is installed, which takes 2 CPU seconds and 240 MB per process. Its neural components need it,
but its tokenizer does not. It also imports its own command line for `spacy.info`, with clients of web servers and a
template engine, which takes 0.2 CPU seconds.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

_leaves_out_torch = False


class _NoCommand(ModuleType):
    """Stand-in for the module of a command of spaCy. Each name in it is None."""

    def __getattr__(self, name: str) -> None:
        return None


def leave_out_torch() -> None:
    """Let `import_spacy` leave out torch and spaCy's commands. Call it in processes that run no other code.

    In a process of a user, spaCy must find torch, because the user can load a pipeline that needs it.
    """
    global _leaves_out_torch
    _leaves_out_torch = True


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
