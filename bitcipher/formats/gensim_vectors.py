"""Conversion from and to gensim's `KeyedVectors` in memory.

gensim's own files are pickles, which this project neither reads nor writes.
"""

from typing import TYPE_CHECKING

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.table.vector_table import VectorTable

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def to_gensim(table: VectorTable) -> "KeyedVectors":
    """Return a copy as `KeyedVectors`, with the attributes "count" and "passages" if the table has them.

    Raises:
        BitcipherError: if gensim is not installed.
    """
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise BitcipherError("This requires gensim: run `pip install gensim`.") from None
    result = KeyedVectors(table.vector_size, dtype=np.float32)
    result.add_vectors(table.index_to_key, np.array(table.vectors, np.float32))
    # `add_vectors(extras=...)` fails for any argument (gensim 4.4).
    for name, column in (("count", table.counts), ("passages", table.passages)):
        if column is not None:
            result.allocate_vecattrs([name], [np.int64])
            result.expandos[name][:] = column
    return result


def from_gensim(keyed_vectors: "KeyedVectors") -> VectorTable:
    """Return a table with a copy of the words and vectors of `KeyedVectors`, and of their counts if present.

    Raises:
        BitcipherError: if the argument is not `KeyedVectors`. Pass the `wv` of a gensim model.
    """
    try:
        words, vectors = list(keyed_vectors.index_to_key), np.array(keyed_vectors.vectors, np.float32)
        counts = keyed_vectors.expandos.get("count")
    except AttributeError:
        kind = type(keyed_vectors).__name__
        raise BitcipherError(f"from_gensim takes KeyedVectors, got {kind}: pass the .wv of a gensim model.") from None
    return VectorTable(words, vectors, counts, manifest={"read_from": "gensim"})
