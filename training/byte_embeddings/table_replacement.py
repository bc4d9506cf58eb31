"""A model whose input embeddings are replaced, while its output layer stays."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from training.byte_embeddings.alignment import ByteEmbeddings
from training.models import input_embeddings


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


@contextmanager
def replaced_input_embeddings(model: PreTrainedModel, table: Tensor) -> Iterator[None]:
    """Replace the input embeddings of a model by a table [V, H] for the block. A tied output layer stays as it is."""
    original = input_embeddings(model)
    replacement = nn.Embedding(*table.shape, padding_idx=original.padding_idx, _weight=table, _freeze=True)
    model.set_input_embeddings(replacement)
    try:
        yield
    finally:
        model.set_input_embeddings(original)


def random_table(model: PreTrainedModel, seed: int) -> Tensor:
    """Return random input embeddings [V, H] with the mean and the deviation of the model's, as a baseline."""
    weight = input_embeddings(model).weight.detach()
    noise = torch.randn(weight.shape, generator=torch.Generator().manual_seed(seed))
    return noise * weight.std() + weight.mean()
