"""Initialization of a model's token embeddings with vectors."""

import numpy as np
import torch
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from training.models.embeddings.embedding_table import TokenEmbeddings, resize_vectors
from training.models.embeddings.options import EmbeddingInitOptions
from training.models.parts import embedding_tables, input_embeddings, output_bias


class EmbeddingInitReport(Record):
    """Result of an initialization; stored as `embedding_init.json` in the folder of the run."""

    n_from_vectors: int
    """Number of tokens whose row was initialized with a vector."""
    n_random: int
    """Number of tokens that keep the model's random row: special tokens and tokens without a vector."""
    vector_size: int
    """Dimensions of the vectors before they were resized to the width of the embeddings."""
    rms: float
    """Root mean square of the initialized rows."""


@torch.no_grad()
def init_embeddings(
    model: PreTrainedModel, table: TokenEmbeddings, options: EmbeddingInitOptions
) -> EmbeddingInitReport:
    """Replace the embeddings of the tokens that have a vector; the other rows stay random.

    The new rows are scaled to the root mean square of the model's random embeddings times `options.effective_scale`,
    because the layers above expect inputs of a certain size. A tied output layer stays tied.

    Args:
        model: model with random weights.
        table: vectors of the tokens of the model's tokenizer.
        options: scale, centering and output bias.

    Raises:
        BitcipherError: if the table has more tokens than the model.
    """
    weight = input_embeddings(model).weight
    if len(table.rows) > len(weight):
        raise BitcipherError(f"The model has {len(weight):,} tokens, but the tokenizer has {len(table.rows):,}.")
    tokens = np.flatnonzero(table.has_vector)
    rows = resize_vectors(table.rows[tokens], weight.shape[1])
    if options.centered:
        rows = rows - rows.mean(axis=0)
    model_rms = float(weight.float().square().mean().sqrt())
    rows_rms = np.sqrt(np.mean(np.square(rows, dtype=np.float64)))
    rows = rows * (options.effective_scale * model_rms / rows_rms)
    for embeddings in embedding_tables(model):
        embeddings.weight[torch.from_numpy(tokens)] = torch.from_numpy(rows).to(weight)
    if options.output_bias:
        _init_output_bias(model, table)
    return EmbeddingInitReport(
        n_from_vectors=len(tokens),
        n_random=len(weight) - len(tokens),
        vector_size=table.rows.shape[1],
        rms=options.effective_scale * model_rms,
    )


@torch.no_grad()
def scale_embeddings(model: PreTrainedModel, scale: float) -> None:
    """Multiply the token embeddings of a model by `scale`."""
    for embeddings in embedding_tables(model):
        embeddings.weight.mul_(scale)


def _init_output_bias(model: PreTrainedModel, table: TokenEmbeddings) -> None:
    """Set the output bias, if the model has one, to the log frequencies of the tokens, which a model learns first."""
    bias = output_bias(model)
    if bias is None or table.counts is None:
        return
    counts = torch.from_numpy(table.counts).to(bias)
    frequencies = (counts + 1) / (counts + 1).sum()
    bias[: len(frequencies)] = frequencies.log() - frequencies.log().mean()
