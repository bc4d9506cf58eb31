"""Vectors that torch trains: the table and its files stay as they are."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from bitcipher import CipherVectors

WORDS = ["the", "cat", "dog"]
ROWS = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def train(weights: torch.Tensor) -> torch.Tensor:
    embedding = torch.nn.Embedding.from_pretrained(weights, freeze=False)
    optimizer = torch.optim.SGD(embedding.parameters(), lr=1.0)
    embedding(torch.arange(3)).square().sum().backward()
    optimizer.step()
    return embedding.weight.detach()


@pytest.mark.parametrize("mmap", [True, False])
def test_training_of_a_copy_leaves_table_and_files_unchanged(tmp_path, mmap):
    CipherVectors(WORDS, ROWS).save(tmp_path / "table")
    stored = contents(tmp_path / "table")
    vectors = CipherVectors.load(tmp_path / "table", mmap=mmap)
    nearest = vectors.most_similar("cat")
    with warnings.catch_warnings(action="error"):
        trained = train(torch.tensor(vectors.vectors))
    np.testing.assert_array_equal(trained, -ROWS)
    np.testing.assert_array_equal(vectors.vectors, ROWS)
    assert vectors.most_similar("cat") == nearest
    assert contents(tmp_path / "table") == stored


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_training_of_mapped_memory_leaves_files_unchanged(tmp_path):
    CipherVectors(WORDS, ROWS).save(tmp_path / "table")
    stored = contents(tmp_path / "table")
    vectors = CipherVectors.load(tmp_path / "table")
    np.testing.assert_array_equal(train(torch.from_numpy(np.asarray(vectors.vectors))), -ROWS)
    assert contents(tmp_path / "table") == stored
    np.testing.assert_array_equal(CipherVectors.load(tmp_path / "table", verify=True).vectors, ROWS)
