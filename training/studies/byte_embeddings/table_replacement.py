"""A model whose input embeddings are replaced, while its output layer stays."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from training.models.parts import input_embeddings
from training.studies.byte_embeddings.alignment import ByteEmbeddings


def byte_table(model: PreTrainedModel, embeddings: ByteEmbeddings, tokens: Mapping[str, int]) -> Tensor:
    """Return the input embeddings [V, H] of a model with those of tokens from their bytes.

    Args:
        model: model with the original embeddings.
        embeddings: network from bytes to vectors.
        tokens: ids by token; other rows stay as they are.
    """
    table = input_embeddings(model).weight.detach().clone()
    table[list(tokens.values())] = embeddings.embed(list(tokens)).to(table)
    return table


class TableLookup(nn.Module):
    """Rows of a table [R, H] by id. Unlike with `nn.Embedding`, gradients pass through the table."""

    def __init__(self, table: Tensor) -> None:
        """Use the table itself, not a copy."""
        super().__init__()
        self.weight = table

    def forward(self, ids: Tensor) -> Tensor:
        """Return the rows [..., H] of ids [...]."""
        return functional.embedding(ids, self.weight)


@contextmanager
def replaced_input_embeddings(model: PreTrainedModel, table: Tensor) -> Iterator[None]:
    """Replace the input embeddings of a model by a table for the block. A tied output layer stays as it is.

    Args:
        model: the model.
        table: [R, H] a vector per id; ids from the size of the vocabulary on are those of other strings.
    """
    original = input_embeddings(model)
    model.set_input_embeddings(TableLookup(table))
    try:
        yield
    finally:
        model.set_input_embeddings(original)


def random_table(model: PreTrainedModel, seed: int) -> Tensor:
    """Return random input embeddings [V, H] with the mean and the deviation of the model's, as a baseline."""
    weight = input_embeddings(model).weight.detach()
    noise = torch.randn(weight.shape, generator=torch.Generator().manual_seed(seed))
    return noise * weight.std() + weight.mean()
