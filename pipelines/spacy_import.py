"""Import of spaCy without torch, in processes that only run commands and stages of bitcipher.

spaCy imports torch if it is installed, which takes 2 CPU seconds and 240 MB per process. Its neural components need it,
but its tokenizer does not.
"""

import sys
from importlib import import_module

_leaves_out_torch = False


def leave_out_torch() -> None:
    """Let `import_spacy` leave out torch. Call it in commands and workers, whose process runs no other code.

    In a process of a user, spaCy must find torch, because the user can load a pipeline that needs it.
    """
    global _leaves_out_torch
    _leaves_out_torch = True


def import_spacy() -> None:
    """Import spaCy. Call it before the import of a module that imports spaCy."""
    if "spacy" in sys.modules:
        return
    if not _leaves_out_torch or "torch" in sys.modules:
        import_module("spacy")
        return
    sys.modules["torch"] = None  # type: ignore[assignment]  # so that `import torch` raises ImportError
    try:
        import_module("spacy")
    finally:
        sys.modules.pop("torch", None)  # another thread can have removed it
