"""Vectors of words with counts, and sentences of these words."""

import numpy as np

from bitcipher.vectors.cipher_vectors import CipherVectors

STEMS, ENDINGS = ("walk", "talk", "jump", "laugh", "paint"), ("", "s", "ed", "ing")
WORDS = ["the", ".", "n't", "do", "u.s.", "قلب", "zero", *(stem + ending for stem in STEMS for ending in ENDINGS)]
SENTENCES = ["The walk.", "walked talks, walked", "Don't jump in the U.S.", "laughing painted the zero", "قلب paints"]


def make_vectors(words=WORDS, tokenizer="spacy") -> CipherVectors:
    """Return vectors of words, of which "zero" has zeros."""
    rows = np.random.default_rng(1).standard_normal((len(words), 10), dtype=np.float32)
    rows += 2 * np.eye(10, dtype=np.float32)[0]
    rows[words.index("zero")] = 0
    manifest = {"options": {"tokenizer": tokenizer}}
    return CipherVectors(words, rows, np.arange(len(words), 0, -1) ** 2, manifest=manifest)
