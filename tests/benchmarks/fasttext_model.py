"""`FastTextModel`: a stored model of fastText, opened by gensim."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bitcipher.vectors.cipher_vectors import CipherVectors


class FastTextModel(NamedTuple):
    """Vectors of fastText.

    Attributes:
        vectors: vectors of the known words.
        predict: returns vectors of other words, (n, d) float32, of length 1 or 0.
    """

    vectors: CipherVectors
    predict: Callable[[Sequence[str]], np.ndarray]

    @classmethod
    def read(cls, path: str) -> "FastTextModel":
        """Read a .bin file."""
        from gensim.models.fasttext import load_facebook_vectors

        model = load_facebook_vectors(path)

        def predict(words: Sequence[str]) -> np.ndarray:
            table = np.array([model.get_vector(word) for word in words], np.float32).reshape(len(words), -1)
            lengths = np.linalg.norm(table, axis=1, keepdims=True)
            return table / np.where(lengths > 0, lengths, 1)

        return cls(CipherVectors(model.index_to_key, predict(model.index_to_key)), predict)
