"""bitcipher: exact, explainable, additive word vectors. See the README.

Public names are imported when they are first used, so `import bitcipher` loads no other library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bitcipher.cipher import BitCipher
    from bitcipher.cooccurrence import Build, open_build
    from bitcipher.embedding import CipherEmbedding, Refinement
    from bitcipher.errors import BitcipherError, UnknownWordError
    from bitcipher.vectors import CipherVectors
    from bitcipher.vocabulary import OOV, Vocabulary

__version__ = "0.1.0"

__all__ = [
    "OOV",
    "BitCipher",
    "BitcipherError",
    "Build",
    "CipherEmbedding",
    "CipherVectors",
    "Refinement",
    "UnknownWordError",
    "Vocabulary",
    "open_build",
]

_MODULES = {
    "OOV": "bitcipher.vocabulary",
    "BitCipher": "bitcipher.cipher",
    "BitcipherError": "bitcipher.errors",
    "Build": "bitcipher.cooccurrence",
    "CipherEmbedding": "bitcipher.embedding",
    "CipherVectors": "bitcipher.vectors",
    "Refinement": "bitcipher.embedding",
    "UnknownWordError": "bitcipher.errors",
    "Vocabulary": "bitcipher.vocabulary",
    "open_build": "bitcipher.cooccurrence",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
