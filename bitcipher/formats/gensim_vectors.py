"""gensim's KeyedVectors, in memory: gensim's own files are pickles, which this project neither writes nor reads."""

from typing import TYPE_CHECKING

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def to_gensim(vectors: CipherVectors) -> "KeyedVectors":
    """A copy of the table in gensim's class, with the attributes "count" and "passages" where the table has them.

    Raises:
        BitcipherError: if gensim is not installed.
    """
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise BitcipherError("This needs gensim: install it by pip install gensim.") from None
    result = KeyedVectors(vectors.vector_size, dtype=np.float32)
    result.add_vectors(vectors.index_to_key, np.array(vectors.vectors, np.float32))
    # Not by `add_vectors(extras=...)`, which fails for whatever it is given (gensim 4.4).
    for name, column in (("count", vectors.counts), ("passages", vectors.passages)):
        if column is not None:
            result.allocate_vecattrs([name], [np.int64])
            result.expandos[name][:] = column
    return result


def from_gensim(keyed_vectors: "KeyedVectors") -> CipherVectors:
    """A copy of gensim's table, with its counts if it has them.

    Raises:
        BitcipherError: if it is no `KeyedVectors`: of a model of gensim, give its `wv`.
    """
    try:
        words, vectors = list(keyed_vectors.index_to_key), np.array(keyed_vectors.vectors, np.float32)
        counts = keyed_vectors.expandos.get("count")
    except AttributeError:
        kind = type(keyed_vectors).__name__
        raise BitcipherError(f"This takes gensim's KeyedVectors, not {kind}: of a model, give its .wv.") from None
    return CipherVectors(words, vectors, counts, manifest={"read_from": "gensim"})
