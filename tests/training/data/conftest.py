"""A tokenizer for texts of a few letters."""

import pytest
from tokenizers import Tokenizer

from training.data import train_tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """Byte-level, so that it takes any text."""
    return train_tokenizer(["the cat sat on the mat, the dog did not"] * 10, "bpe", 280)
