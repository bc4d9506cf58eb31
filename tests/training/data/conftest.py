"""Tokenizer fixture."""

import pytest
from tokenizers import Tokenizer

from training.data.train_tokenizer import train_tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """Return a byte-level tokenizer, which encodes any text."""
    return train_tokenizer(["the cat sat on the mat, the dog did not"] * 10, "bpe", 280)
