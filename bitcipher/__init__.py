"""bitcipher: exact, explainable, additive word vectors. See the README.

Public names are imported when they are first used, so `import bitcipher` loads no other library.
"""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from bitcipher.cipher import BitCipher
    from bitcipher.cooccurrence.build import Build, open_build
    from bitcipher.embedding.cipher_embedding import CipherEmbedding
    from bitcipher.embedding.refinement import Refinement
    from bitcipher.errors import BitcipherError, UnknownWordError
    from bitcipher.vectors.cipher_vectors import CipherVectors
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

__getattr__ = lazy_names(
    __name__,
    {
        "cipher": ["BitCipher"],
        "cooccurrence": ["Build", "open_build"],
        "embedding": ["CipherEmbedding", "Refinement"],
        "errors": ["BitcipherError", "UnknownWordError"],
        "vectors": ["CipherVectors"],
        "vocabulary": ["OOV", "Vocabulary"],
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
