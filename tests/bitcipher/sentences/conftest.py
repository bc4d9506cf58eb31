"""Vectors of words."""

import os

import pytest
from sentence_vectors import WORDS, make_vectors

from bitcipher.vectors.cipher_vectors import CipherVectors

# These tests must not access the network. The variable is read when the libraries are imported.
os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session")
def vectors() -> CipherVectors:
    return make_vectors([*WORDS, "<oov>"])
