"""A small table of difficult content: unusual words, a zero vector, and <oov>."""

import os

import numpy as np
import pytest

from bitcipher.vectors.cipher_vectors import CipherVectors

# These tests must not access the network. The variable is read when the libraries are imported.
os.environ["HF_HUB_OFFLINE"] = "1"

# All of these formats treat a no-break space as a letter. Words with whitespace have their own tests.
WORDS = [
    "the",
    "cat",
    "<oov>",
    "قلب",
    "naïve",
    "🏳️‍🌈",
    "a\u00a0b",
    '"',
    "'s",
    "n't",
    "u.s.",
    "mr.",
    "10",
    "zero",
    "é",
    "NOUN",
]
WORDS += [f"word{i}" for i in range(64)]


@pytest.fixture(scope="session")
def table() -> CipherVectors:
    rows = np.random.default_rng(4).standard_normal((len(WORDS), 12), dtype=np.float32)
    rows[WORDS.index("zero")] = 0
    rows[3, :3] = 1e-45, -1e-7, 1.5e-39
    rows[5, :3] = 1e5, -16777217, 0.1
    size = len(WORDS)
    return CipherVectors(WORDS, rows, np.arange(size, 0, -1) * 10, np.arange(size, 0, -1))


@pytest.fixture(scope="session")
def check_neighbors(table):
    """Return a check that another library finds the same five nearest words with the same cosines."""
    expected = {word: table.most_similar(word, topn=5) for word in ("cat", "قلب", "word7", "a\u00a0b")}

    def check(find):
        """Compare `find`, which returns all words with their cosines to a word in any order."""
        for word, nearest in expected.items():
            found = [(other, cosine) for other, cosine in find(word) if other not in (word, "<oov>", "zero")]
            found = sorted(found, key=lambda pair: -pair[1])[:5]
            assert [other for other, _ in found] == [other for other, _ in nearest]
            np.testing.assert_allclose([cosine for _, cosine in found], [cosine for _, cosine in nearest], atol=1e-4)

    return check


@pytest.fixture(scope="session")
def numpy_finder():
    """Return a factory of `find` functions for libraries that give words and rows. They use plain NumPy."""

    def make_finder(words, rows):
        rows = np.asarray(rows, np.float64)
        units = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        return lambda word: zip(words, units @ units[list(words).index(word)], strict=True)

    return make_finder
